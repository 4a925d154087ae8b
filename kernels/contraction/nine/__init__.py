"""The contraction of 9x9 boards, stage by stage. Special to 3x3 boxes.

``arrays`` defines the words that all files use, and the *workspace*: the arrays of one board in
groups, each written by one stage and only read by those after it. A stage takes what it reads
first, and what it writes last:

====================== =================== ============================ =========================
stage                  file                reads                        writes
====================== =================== ============================ =========================
``allow_permutations`` maps                candidates                   the masks of Lists
``survey``             maps, prune, roles  the masks of Lists           ListScratch, Lists,
                                                                        Numbering
``choose_roles``       roles               Lists, Numbering             Roles
``list_orthogonal``    tensors             Numbering, Roles             Orthogonal
``contract_ab``        tensors             Lists, Numbering, Roles,     the intermediate tensor
                                           Orthogonal
``contract_c``         tensors             Roles, Orthogonal, the       Tensors (its caller
                                           intermediate tensor          writes ``largest``)
``arrange``            operands,           Lists, Numbering, Roles      Operands, Symmetries,
                       symmetries                                       Orbits
``narrow_enough``      dot                 Lists, Roles, Tensors        nothing
``sum_narrow``,        dot                 Roles, Operands, Tensors,    Slabs (``slabs``), which
``sum_wide``                               pairs of Orbits              belong to a thread
``list_words``         words               Lists                        ListScratch, Words
``mark_fitting``       words               Lists, Numbering, Roles      Fitting
``relabel``            unrank              Symmetries, Orbits           Relabelling
``find_narrow``,       unrank              numbers, Roles, Operands,    Slabs; the cells of
``find_wide``                              Tensors                      solutions
``choose_words``       unrank              cells, Lists, Roles,         the words of solutions
                                           Operands, Tensors, Words,
                                           Fitting
``write_grids``        unrank              words of solutions, Words,   solutions
                                           Relabelling
``write_boxes``        boxes               Lists, Roles, Words          Boxes
``write_solutions``    products, strips,   ``strips.Known``             Strips, which belong to a
                       filling                                          thread; the solutions
====================== =================== ============================ =========================

Shares take these after ``survey``, and make the tensors of each turn:

======================== ============== =============================== ==========================
stage                    file           reads                           writes
======================== ============== =============================== ==========================
``choose_turn``          roles          Lists, Numbering                Roles, for every turn
``list_words``           words          ListScratch, Lists              Words
``name_entries``         naming         Lists, Numbering, Words         Naming
``find_symmetries``      symmetries     the masks of Lists              Symmetries
``make_turn``            turns          Lists, Numbering, Naming,       a Turn: Operands, Orbits,
                                        Roles, Symmetries               Pivot
``sweep_narrow``,        shares,        a Turn, Tensors                 the environments, Slabs and
``sweep_wide``           joining                                        Ledger, of a thread
``collect``              environments   Numbering, Naming, a Turn, the  Found
                                        environments
======================== ============== =============================== ==========================

A group is one piece of memory, whose address is all that stages are given (``arguments.py``).
Two stages are short, so a few boards take them as plain Python; ``narrow_enough`` always does,
except as a part of ``count_boards``.

Many threads can share the stages from ``list_orthogonal`` on. ``count_boards`` runs all stages,
board after board, on one thread. ``cpu`` and ``cpu_shares`` put the stages together and compile
them; ``cuda`` has the sum for GPUs.

Nothing here depends on a board's geometry, so these are plain functions, where other kernels are
templates. ``jitable`` marks those that compiled code calls.
"""

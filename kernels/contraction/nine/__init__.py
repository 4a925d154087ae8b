"""The contraction of 9x9 boards, stage by stage. Special to 3x3 boxes.

``arrays`` begins with a glossary of all terms and a worked example. It also defines the
*workspace*: the arrays of one board in groups. Each group is written by one stage, and only read by
later ones. The arguments of a stage are first what it reads, then what it writes:

====================== =================== ============================ =========================
stage                  file                reads                        writes
====================== =================== ============================ =========================
``allow_permutations`` lists               candidates                   the masks of Lists
``survey``             lists, tensors      the masks of Lists           ListScratch, Lists,
                                                                        Numbering
``choose_roles``       tensors             Lists, Numbering             Roles
``list_orthogonal``    tensors             Numbering, Roles             OrthogonalIndices
``contract_ab``        tensors             Lists, Numbering, Roles,     the intermediate tensor
                                           OrthogonalIndices
``contract_c``         tensors             Roles, OrthogonalIndices,    Tensors (its caller
                                           the intermediate tensor      writes ``largest``)
``arrange``            lists, orbits       Lists, Numbering, Roles      Operands, Symmetries,
                                                                        Orbits
``narrow_enough``      pair_sums           Lists, Roles, Tensors        nothing
``sum_narrow``,        pair_sums           Roles, Operands, Tensors,    Slabs, which belong to a
``sum_wide``                               pairs of Orbits              thread
``list_words``         order               Lists                        ListScratch, Words
``mark_fitting``       order               Lists, Numbering, Roles      Fitting
``relabel``            order               Symmetries, Orbits           Relabelling
``find_narrow``,       order               ranks, Roles, Operands,      Slabs; the triples of
``find_wide``                              Tensors                      solutions
``choose_words``       order               triples, Lists, Roles,       the maps of solutions
                                           Operands, Tensors, Words,
                                           Fitting
``write_grids``        order               maps of solutions, Words,    solutions
                                           Relabelling
``write_boxes``        strips              Lists, Roles, Words          Boxes
``write_solutions``    writing, strips     ``strips.Known``             Strips, which belong to a
                                                                        thread; the solutions
====================== =================== ============================ =========================

Shares run these after ``survey``, and make the tensors for each of three pivots:

======================== ============== =============================== ==========================
stage                    file           reads                           writes
======================== ============== =============================== ==========================
``choose_turn``          tensors        Lists, Numbering                Roles, for each pivot
``list_words``           order          ListScratch, Lists              Words
``name_entries``         turns          Lists, Numbering, Words         Naming
``find_symmetries``      orbits         the masks of Lists              Symmetries
``make_turn``            turns          Lists, Numbering, Naming,       a Turn: Operands, Orbits,
                                        Roles, Symmetries               Pivot
``sweep_narrow``,        shares,        a Turn, Tensors                 the environments, Slabs and
``sweep_wide``           environments                                   Ledger, of a thread
``collect``              environments   Numbering, Naming, a Turn, the  Found
                                        environments
======================== ============== =============================== ==========================

A group is one piece of memory, and stages get its address only (``arguments.py``).
``allow_permutations`` and ``choose_roles`` are short, so they run as plain Python for a few boards;
``narrow_enough`` always does, except as a part of ``count_boards``.

Many threads can share the stages from ``list_orthogonal`` on. ``count_boards`` runs all stages,
board after board, on one thread. ``cpu`` and ``shares`` put the stages together and compile them.
``cuda`` has the sum for GPUs.

Nothing here depends on a board's geometry, so these are plain functions, where other kernels are
templates. ``jitable`` marks the functions that compiled code calls.
"""

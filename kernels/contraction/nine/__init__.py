"""The contraction of 9x9 boards, stage by stage. Special to 3x3 boxes.

``arrays`` begins with a glossary of all terms and a worked example. It also defines the
*workspace*: the arrays of one board in groups. Each group is written by one stage, and only read by
later ones. The arguments of a stage are first what it reads, then what it writes:

============================ ============= =========================== ===========================
stage                        file          reads                       writes
============================ ============= =========================== ===========================
``allow_permutations``       lists         candidates                  the masks of Lists
``make_lists``               lists,        the masks of Lists          ListScratch, Lists,
                             tensors                                   Indexing
``choose_roles``             tensors       Lists, Indexing             Roles
``list_orthogonal``          tensors       Indexing, Roles             OrthogonalIndices
``contract_ab``              tensors       Lists, Indexing, Roles,     the intermediate tensor
                                           OrthogonalIndices
``contract_c``               tensors       Roles, OrthogonalIndices,   Tensors (its caller writes
                                           the intermediate tensor     ``largest``)
``arrange_pairs``            lists, orbits Lists, Indexing, Roles      Operands, Symmetries,
                                                                       Orbits
``is_narrow``                pair_sums     Lists, Roles, Tensors       nothing
``sum_narrow``, ``sum_wide`` pair_sums     Roles, Operands, Tensors,   Slabs of a thread
                                           Orbits
``list_maps``                order         Lists                       ListScratch, Maps
``mark_orthogonal_entries``  order         Lists, Indexing, Roles      OrthogonalEntries
``relabel``                  order         Symmetries, Orbits          Relabelling
``find_triples_narrow``,     order         ranks, Roles, Operands,     Slabs; the triples of
``find_triples_wide``                      Tensors                     solutions
``choose_maps``              order         triples, Lists, Roles,      the maps of solutions
                                           Operands, Tensors, Maps,
                                           OrthogonalEntries
``write_grids``              order         maps of solutions, Maps,    solutions
                                           Relabelling
``write_boxes``              strips        Lists, Roles, Maps          Boxes
``write_solutions``          writing,      SolvedBoard                 Strips of a thread; the
                             strips                                    solutions
============================ ============= =========================== ===========================

Shares run these after ``make_lists``, and make the tensors for each of three pivots:

============================ ============= =========================== ===========================
stage                        file          reads                       writes
============================ ============= =========================== ===========================
``choose_pivot_roles``       tensors       Lists, Indexing             Roles, for each pivot
``list_maps``                order         ListScratch, Lists          Maps
``classify_entries``         pivot_sums    Lists, Indexing, Maps       EntryClasses
``find_symmetries``          orbits        the masks of Lists          Symmetries
``make_pivot_sum``           pivot_sums    Lists, Indexing,            a PivotSum: Operands,
                                           EntryClasses, Roles,        Orbits, Pivot
                                           Symmetries
``sum_environments_narrow``, shares,       a PivotSum, Tensors         the environments, Slabs and
``sum_environments_wide``    environments                              ClassSums of a thread
``collect``                  environments  Indexing, EntryClasses, a   ShareSums
                                           PivotSum, the environments
============================ ============= =========================== ===========================

A group is one piece of memory, and stages get its address only (``arguments.py``).
``allow_permutations`` and ``choose_roles`` are short, so they run as plain Python for a few boards;
``is_narrow`` always does, except as a part of ``count_boards``.

Many threads can share the stages from ``list_orthogonal`` on. ``count_boards`` runs all stages,
board after board, on one thread. ``cpu`` and ``shares`` put the stages together and compile them.
``cuda`` has the sum for GPUs.

Nothing here depends on a board's geometry, so these are plain functions, where other kernels are
templates. ``jitable`` marks the functions that compiled code calls.
"""

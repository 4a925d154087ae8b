"""The contraction of 9x9 boards, stage by stage. Special to 3x3 boxes.

``arrays`` defines the words that all files use, and the *workspace*: the arrays of one board in
groups, each written by one stage and only read by those after it. A stage takes what it reads
first, and what it writes last:

==================== =================== ============================ ===========================
stage                file                reads                        writes
==================== =================== ============================ ===========================
``survey``           maps, prune, roles  candidates                   ListScratch, Lists,
                                                                      Numbering, Roles
``list_orthogonal``  tensors             Numbering, Roles             Orthogonal
``contract_ab``      tensors             Lists, Numbering, Roles,     the intermediate tensor
                                         Orthogonal
``contract_c``       tensors             Roles, Orthogonal, the       Tensors (its caller writes
                                         intermediate tensor          ``largest``)
``arrange``          operands, orbits    Lists, Numbering, Roles      Operands, Orbits
``narrow_enough``    dot                 Lists, Roles, Tensors        nothing
``sum_narrow``,      dot                 Roles, Operands, Tensors,    Slabs (``slabs``), which
``sum_wide``                             pairs of Orbits              belong to a thread
==================== =================== ============================ ===========================

Many threads can share the stages from ``list_orthogonal`` on. ``count_boards`` runs all stages,
board after board, on one thread. ``cpu`` puts the stages together and compiles them; ``cuda`` has
the sum for GPUs.

Nothing here depends on a board's geometry, so these are plain functions, where other kernels are
templates. ``jitable`` marks those that compiled code calls.
"""

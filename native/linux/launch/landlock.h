/*
 * Landlock's scope: no abstract unix socket and no signal leaves the
 * sandbox. No file rules: those would forbid mounts (notes in landlock.c).
 */
#pragma once

#include "../../common/cordon.h"

enum { LANDLOCK_ABI_SCOPE = 6 };

/* The ABI of this kernel, 0 when it has no Landlock. */
int landlock_abi(void);

/* 0: scoped. 1: this kernel cannot, which is a gap. Needs no_new_privs. */
MUST_CHECK int restrict_scope(void);

/*
 * Signals and job control of the launcher: it stays in the process group it
 * was started in, and the command runs in that group too.
 */
#pragma once

#include <signal.h>

#include "supervisor.h"

/* Blocks what the supervisor reads from a descriptor; before the clone. */
void block_signals(sigset_t *ret_previous);
/* In the parent. */
MUST_CHECK int signals_start(struct supervisor *sup);
/* The command stopped: stop as well, go on together. */
void follow_stop(struct supervisor *sup);
/* Gives the terminal back to our process group, if a dead one holds it. */
void restore_foreground(void);

/*
 * A terminal of the command's own, relayed to ours (plan: "relay"). While a
 * question stands the relay stands still, so that the program can neither
 * answer nor fake it.
 */
#pragma once

#include "supervisor.h"

/* Which of the standard descriptors are terminals. */
void find_terminals(bool ret_terminal[3]);

/* In the child, on the sandbox's own /dev/pts: 0, or -errno. */
MUST_CHECK int create_terminal(int *ret_master, int *ret_slave);

/* In the parent: takes over the master, sets ours to raw, starts relaying. */
MUST_CHECK int terminal_start(struct supervisor *sup, int master,
			      const bool is_terminal[3]);

/* After SIGWINCH or SIGCONT: window size and raw mode again. */
void terminal_changed(struct supervisor *sup);

/* Before we stop: gives our terminal back; terminal_changed() afterwards. */
void terminal_pause(struct supervisor *sup);

/*
 * Keeps a line for after the question that stands: nothing may be drawn over
 * it. False: nothing stands, or the line does not go to our terminal.
 */
bool terminal_keep_line(struct supervisor *sup, const char *line,
			size_t length);

/* Whether lines on standard error need a carriage return. */
bool terminal_is_raw(const struct supervisor *sup);

/* Passes on what the command had written, and gives our terminal back. */
void terminal_finish(struct supervisor *sup);

/*
 * Calls that change something by path: held, judged, performed by us. The
 * order of one is in act.h.
 */
#pragma once

#include "../supervisor/notify.h"
#include "locate.h"

/* Before "go", on the main thread. */
MUST_CHECK int files_start(struct supervisor *sup);

/*
 * What the call is to return: 0, -errno, or CALL_ANSWERED. May take until a
 * person said something, or as long as the caller waits for a FIFO's reader.
 */
MUST_CHECK int answer_file_call(const struct call *call);

struct rules;
/* What is protected in this run; a folder granted for writing is told to it. */
struct rules *files_rules(struct supervisor *sup);
struct locations *files_locations(struct supervisor *sup);

/* The words for gaps, see gaps.h. */
#include "gaps.h"

struct gap describe_gap(int bit)
{
	switch (bit) {
	case GAP_PROC:
		return (struct gap){
			"Processes outside the sandbox cannot be seen",
			"a container around this one hides parts of /proc, so "
			"no new one can be mounted",
		};
	case GAP_SCOPE:
		return (struct gap){
			"Signals stay inside the sandbox",
			"Landlock's scope needs Linux 6.12 or later; kill(0) "
			"reaches the launcher's process group",
		};
	case GAP_LISTENER:
		return (struct gap){
			"Calls are held while a person is asked",
			"another sandbox around this one holds the calls; "
			"what would be asked about is refused instead",
		};
	case GAP_FUSE:
		return (struct gap){
			"Reads of closed places are held while a person is "
			"asked",
			"/dev/fuse is missing here, or refused, so closed "
			"places are hidden instead",
		};
	default:
		return (struct gap){
			"Approved hosts can be reached",
			"nf_tables is missing in this kernel, or refused by "
			"another sandbox around this one",
		};
	}
}

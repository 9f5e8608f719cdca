/* Numbers of a caller, see ids.h. */
#include "ids.h"

#include <fcntl.h>

#include "../launch/idmap.h"
#include "task.h"

enum { MAP_BYTES_MAX = 4096, UNCHANGED = -1 };

/* As we read it, its second numbers are ours. */
static int translate_by(const struct call *call, const char *name, unsigned *id)
{
	AUTO_CLOSE int fd = -1;
	char map[MAP_BYTES_MAX];
	ssize_t got;

	if (*id == (unsigned)UNCHANGED)
		return 0;
	fd = task_open(call->thread, name, O_RDONLY);
	got = fd < 0 ? -1 : RETRY(read(fd, map, sizeof(map) - 1));
	if (!call_is_alive(call))
		return -ESRCH;
	if (got < 0)
		return -EINVAL;
	map[got] = '\0';
	return translate_id(map, id);
}

int translate_ids(const struct call *call, uid_t *user, gid_t *group)
{
	int err = translate_by(call, "uid_map", user);

	return err ? err : translate_by(call, "gid_map", group);
}

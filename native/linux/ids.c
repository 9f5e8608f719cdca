/* Numbers through a user namespace's maps, see ids.h. */
#include "ids.h"

#include <fcntl.h>
#include <string.h>

#include "task.h"

enum { MAP_BYTES_MAX = 4096, UNCHANGED = -1 };

static unsigned next_number(char **text)
{
	return (unsigned)strtoul(*text, text, 10);
}

int translate_id(char *map, unsigned *id)
{
	bool identity = false;

	while (*map) {
		unsigned inside = next_number(&map);
		unsigned outside = next_number(&map);
		unsigned count = next_number(&map);

		if (*id >= inside && *id - inside < count) {
			*id = outside + (*id - inside);
			return 0;
		}
		identity = inside == outside;
		map += strspn(map, " \n");
		if (*map && (*map < '0' || *map > '9'))
			break;
	}
	return identity ? 0 : -EINVAL;
}

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

/* Numbers by a user namespace's map, see idmap.h. */
#include "idmap.h"

#include <string.h>

static unsigned long next_number(const char **text)
{
	char *end;
	unsigned long number = strtoul(*text, &end, 10);

	*text = end + strspn(end, " \n");
	return number;
}

int translate_id(const char *map, unsigned *id)
{
	bool is_own = false;

	map += strspn(map, " ");
	while (*map >= '0' && *map <= '9') {
		unsigned long inside = next_number(&map);
		unsigned long outside = next_number(&map);
		unsigned long count = next_number(&map);

		if (*id >= inside && *id - inside < count) {
			*id = (unsigned)(outside + (*id - inside));
			return 0;
		}
		is_own = inside == outside;
	}
	return is_own ? 0 : -EINVAL;
}

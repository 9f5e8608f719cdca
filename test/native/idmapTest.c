/* idmap.c: numbers of a user namespace by its maps. */
#include "linux/launch/idmap.h"

#include "check.h"

static int translated(const char *map, unsigned id)
{
	return translate_id(map, &id) ? -1 : (int)id;
}

static void maps_by_ranges(void)
{
	static const char map[] = "         0       1000          1\n"
				  "         1     100000      65536\n";

	CHECK(translated(map, 0) == 1000);
	CHECK(translated(map, 1) == 100000);
	CHECK(translated(map, 65536) == 165535);
	CHECK(translated(map, 65537) == -1);
}

static void knows_no_others(void)
{
	CHECK(translated("         0       1000          1\n", 1) == -1);
	CHECK(translated("", 0) == -1);
	CHECK(translated("nonsense", 0) == -1);
}

/* The kernel is to say EPERM, as it does outside. */
static void leaves_the_sandbox_own(void)
{
	CHECK(translated("      1000       1000          1\n", 1000) == 1000);
	CHECK(translated("      1000       1000          1\n", 0) == 0);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "numbers go through each range of a map", maps_by_ranges },
		{ "numbers without a range are invalid", knows_no_others },
		{ "the sandbox's own namespace changes none",
		  leaves_the_sandbox_own },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}

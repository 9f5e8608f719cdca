/* mountinfo.c: the table of mounts. */
#include "linux/supervisor/mountinfo.h"

#include "check.h"

static struct mount_table parsed(const char *text)
{
	struct mount_table table = { 0 };
	char *copy = strdup(text);

	CHECK(copy && mount_table_parse(copy, &table) == 0);
	return table;
}

static void reads_fields(void)
{
	struct mount_table table = parsed(
		"28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
		"31 28 254:1 /home/u/ws /home/u/ws rw master:2 - ext4 /dev rw\n"
		"40 28 0:5 / /with\\040blank\\134 ro - tmpfs none rw\n");
	const struct mount_entry *mount = mount_table_find(&table, 31);

	CHECK(table.count == 3);
	CHECK(mount && mount->major == 254 && mount->minor == 1);
	CHECK_STRING(mount ? mount->root : NULL, "/home/u/ws");
	mount = mount_table_find(&table, 40);
	CHECK_STRING(mount ? mount->point : NULL, "/with blank\\");
	CHECK(mount_table_find(&table, 3) == NULL);
	mount_table_free(&table);
}

static void refuses_what_is_none(void)
{
	static const char *const broken[] = { "x\n", "1 2 3\n", "1 2 3:4\n",
					      "1 2 3:4 /only\n" };

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct mount_table table = { 0 };

		if (mount_table_parse(strdup(broken[i]), &table) == 0) {
			printf("# taken: %s", broken[i]);
			check_failed = true;
			mount_table_free(&table);
		}
	}
}

static void finds_the_rest(void)
{
	CHECK_STRING(rest_below("/a/b", "/a"), "/b");
	CHECK_STRING(rest_below("/a", "/a"), "");
	CHECK_STRING(rest_below("/a/b", "/"), "/a/b");
	CHECK(rest_below("/ab", "/a") == NULL);
	CHECK(rest_below("/", "/a") == NULL);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "a mount has its file system, its root and its place",
		  reads_fields },
		{ "a line that is none is refused", refuses_what_is_none },
		{ "what is below is told by components", finds_the_rest },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}

/* Node table and entries of the tripwires' file system. */
#include <dirent.h>
#include <limits.h>

#include "check.h"
#include "common/limits.h"
#include "linux/tripwire/tripwireService.h"

static const struct node_identity first = { .device = 1, .inode = 1 };
static const struct node_identity second = { .device = 1, .inode = 2 };
static const struct node_identity fixed = { .device = 1,
					    .inode = 1,
					    .is_fixed = true };

static struct node *look_up(struct nodes *nodes, struct node *parent,
			    const char *name,
			    const struct node_identity *identity)
{
	struct node *node = NULL;

	CHECK(nodes_look_up(nodes, parent, name, identity, &node) == 0);
	return node;
}

static void a_path_keeps_its_node(void)
{
	struct nodes nodes;
	struct node *root, *a, *b;

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	a = look_up(&nodes, root, "a", &first);
	b = look_up(&nodes, a, "b", &first);
	CHECK(look_up(&nodes, root, "a", &first) == a);
	CHECK(look_up(&nodes, a, "b", &first) == b);
	CHECK(look_up(&nodes, root, "b", &first) != b);
	CHECK(a->lookups == 2 && b->lookups == 2);
	nodes_close(&nodes);
}

static void another_file_at_a_path_is_another_node(void)
{
	struct nodes nodes;
	struct node *root, *old, *new;

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	old = look_up(&nodes, root, "a", &first);
	new = look_up(&nodes, root, "a", &second);
	CHECK(old != new && old->id != new->id);
	CHECK(look_up(&nodes, root, "a", &first) == old);
	nodes_close(&nodes);
}

static void what_leads_to_a_mount_stays(void)
{
	const struct node_identity later = { .inode = 7, .is_fixed = true };
	struct nodes nodes;
	struct node *root, *way;

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	CHECK(!nodes_has_fixed(&nodes, root, "home"));
	way = look_up(&nodes, root, "home", &fixed);
	CHECK(nodes_has_fixed(&nodes, root, "home"));
	CHECK(look_up(&nodes, root, "home", &later) == way);
	CHECK(look_up(&nodes, root, "home", &first) != way);
	nodes_close(&nodes);
}

static void forgotten_nodes_are_reused(void)
{
	struct nodes nodes;
	struct node *root, *node;
	uint64_t id;
	uint32_t generation;

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	node = look_up(&nodes, root, "a", &first);
	id = node->id;
	generation = nodes_generation(&nodes, node);
	(void)look_up(&nodes, root, "a", &first);
	nodes_forget(&nodes, id, 1);
	CHECK(nodes_find(&nodes, id) == node);
	nodes_forget(&nodes, id, 1);
	CHECK(!nodes_find(&nodes, id));
	node = look_up(&nodes, root, "b", &first);
	CHECK(node->id == id);
	CHECK(nodes_generation(&nodes, node) != generation);
	CHECK(nodes.slot_count == 2);
	nodes_close(&nodes);
}

static void children_and_handles_keep_a_node(void)
{
	struct nodes nodes;
	struct node *root, *a, *b;
	uint64_t id;

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	a = look_up(&nodes, root, "a", &first);
	b = look_up(&nodes, a, "b", &first);
	id = a->id;
	nodes_use(b);
	nodes_forget(&nodes, a->id, 1);
	nodes_forget(&nodes, b->id, 1);
	CHECK(nodes_find(&nodes, id) == a);
	nodes_leave(&nodes, b);
	CHECK(!nodes_find(&nodes, id));
	CHECK(root->users == 0);
	nodes_close(&nodes);
}

static void the_root_is_never_forgotten(void)
{
	struct nodes nodes;

	CHECK(nodes_open(&nodes) == 0);
	nodes_forget(&nodes, NODE_ROOT, UINT64_MAX);
	nodes_forget(&nodes, 0, 1);
	nodes_forget(&nodes, 99, 1);
	CHECK(nodes_find(&nodes, NODE_ROOT) != NULL);
	nodes_close(&nodes);
}

static void thousands_of_nodes_are_found_again(void)
{
	enum { COUNT = 5000 };
	struct nodes nodes;
	struct node *root;
	char name[16];
	uint64_t ids[COUNT];

	CHECK(nodes_open(&nodes) == 0);
	root = nodes_find(&nodes, NODE_ROOT);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		ids[i] = look_up(&nodes, root, name, &first)->id;
	}
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		CHECK(look_up(&nodes, root, name, &first)->id == ids[i]);
		nodes_forget(&nodes, ids[i], 2);
	}
	CHECK(root->users == 0);
	nodes_close(&nodes);
}

/* The first level is the places', which have paths of their own. */
static void a_path_starts_below_its_place(void)
{
	struct nodes nodes;
	struct node *place, *a, *b;
	char path[16];

	CHECK(nodes_open(&nodes) == 0);
	place = look_up(&nodes, nodes_find(&nodes, NODE_ROOT), "12", &fixed);
	a = look_up(&nodes, place, "a\377", &first);
	b = look_up(&nodes, a, "b", &first);
	CHECK(nodes_path(place, sizeof(path), path) == 0);
	CHECK_STRING(path, "");
	CHECK(nodes_path(a, sizeof(path), path) == 0);
	CHECK_STRING(path, "a\377");
	CHECK(nodes_path(b, sizeof(path), path) == 0);
	CHECK_STRING(path, "a\377/b");
	CHECK(nodes_path(b, 4, path) == -ENAMETOOLONG);
	nodes_close(&nodes);
}

static void a_path_of_any_depth_ends_at_the_limit(void)
{
	struct nodes nodes;
	struct node *node;
	char name[NAME_MAX + 1], path[PATH_BYTES_MAX];

	memset(name, 'x', NAME_MAX);
	name[NAME_MAX] = '\0';
	CHECK(nodes_open(&nodes) == 0);
	node = look_up(&nodes, nodes_find(&nodes, NODE_ROOT), "0", &fixed);
	for (int depth = 1; depth <= 15; depth++) {
		node = look_up(&nodes, node, name, &first);
		CHECK(nodes_path(node, sizeof(path), path) == 0);
		CHECK(strlen(path) == (size_t)depth * (NAME_MAX + 1) - 1);
	}
	node = look_up(&nodes, node, name, &first);
	node = look_up(&nodes, node, name, &first);
	CHECK(nodes_path(node, sizeof(path), path) == -ENAMETOOLONG);
	nodes_close(&nodes);
}

/* Appends an entry of getdents64(2); returns where the next one goes. */
static size_t add_entry(char *entries, size_t at, const char *name)
{
	uint64_t inode = at + 1;
	int64_t offset = (int64_t)at + 100;
	unsigned short length =
		(unsigned short)((19 + strlen(name) + 1 + 7) / 8 * 8);

	memset(entries + at, 0, length);
	memcpy(entries + at, &inode, sizeof(inode));
	memcpy(entries + at + 8, &offset, sizeof(offset));
	memcpy(entries + at + 16, &length, sizeof(length));
	entries[at + 18] = DT_REG;
	memcpy(entries + at + 19, name, strnlen(name, NAME_MAX));
	return at + length;
}

static void entries_are_packed_as_they_are(void)
{
	char name[NAME_MAX + 1], entries[1024], packed[2048];
	const char *const names[] = { "a", "fourteen bytes", name };
	struct fuse_dirent entry;
	size_t length = 0, at = 0, size;

	memset(name, '\xfe', NAME_MAX);
	name[NAME_MAX] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		length = add_entry(entries, length, names[i]);
	size = pack_entries(entries, length, false, packed, sizeof(packed));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		memcpy(&entry, packed + at, FUSE_NAME_OFFSET);
		CHECK(entry.type == DT_REG && entry.off == entry.ino + 99);
		CHECK(entry.namelen == strlen(names[i]));
		CHECK(memcmp(packed + at + FUSE_NAME_OFFSET, names[i],
			     entry.namelen) == 0);
		at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);
	}
	CHECK(at == size);
}

/* The worst case: the shortest names. */
static void check_room(bool with_nodes, size_t packed_size)
{
	static char entries[4096], packed[4096];
	size_t room = packable(with_nodes, sizeof(packed));
	size_t length = 0, count = 0;

	for (; length + 24 <= room; count++)
		length = add_entry(entries, length, "x");
	CHECK(count > 0);
	CHECK(pack_entries(entries, length, with_nodes, packed,
			   sizeof(packed)) == count * packed_size);
}

static void all_that_is_packable_finds_room(void)
{
	check_room(false, 32);
	check_room(true, 160);
}

static void an_entry_that_finds_no_room_is_left_out(void)
{
	const struct listed eight = { .inode = 1, .name = "12345678" };
	const struct listed nine = { .inode = 1, .name = "123456789" };
	char packed[40];

	CHECK(pack_entry(&eight, packed, sizeof(packed)) == 32);
	CHECK(pack_entry(&eight, packed, 31) == 0);
	CHECK(pack_entry(&nine, packed, sizeof(packed)) == 40);
}

static void an_entry_may_come_with_its_node(void)
{
	const struct fuse_entry_out known = { .nodeid = 7 };
	const struct listed entry = { .name = "a", .node = &known };
	char packed[160];
	struct fuse_entry_out found;

	CHECK(pack_entry(&entry, packed, sizeof(packed)) == sizeof(packed));
	memcpy(&found, packed, sizeof(found));
	CHECK(found.nodeid == 7);
	CHECK(packed[FUSE_NAME_OFFSET_DIRENTPLUS] == 'a');
	CHECK(pack_entry(&entry, packed, sizeof(packed) - 1) == 0);
}

static const struct check_test tests[] = {
	{ "a path keeps its node", a_path_keeps_its_node },
	{ "another file at a path is another node",
	  another_file_at_a_path_is_another_node },
	{ "what leads to a mount stays", what_leads_to_a_mount_stays },
	{ "forgotten nodes are reused", forgotten_nodes_are_reused },
	{ "children and handles keep a node",
	  children_and_handles_keep_a_node },
	{ "the root is never forgotten", the_root_is_never_forgotten },
	{ "thousands of nodes are found again",
	  thousands_of_nodes_are_found_again },
	{ "a path starts below its place", a_path_starts_below_its_place },
	{ "a path of any depth ends at the limit",
	  a_path_of_any_depth_ends_at_the_limit },
	{ "entries are packed as they are", entries_are_packed_as_they_are },
	{ "all that is packable finds room", all_that_is_packable_finds_room },
	{ "an entry that finds no room is left out",
	  an_entry_that_finds_no_room_is_left_out },
	{ "an entry may come with its node", an_entry_may_come_with_its_node },
};

int main(void)
{
	return check_run(tests, ARRAY_SIZE(tests));
}

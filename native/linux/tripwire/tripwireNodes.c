/* What the kernel knows of the tripwires' file system, see tripwireNodes.h. */
#include "tripwireNodes.h"

#include <string.h>

#include "../../common/limits.h"

enum { FIRST_SLOTS = 64 };

static size_t bucket_of(const struct nodes *nodes, uint64_t parent,
			const char *name)
{
	uint64_t hash = 0xcbf29ce484222325U ^ parent; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
	return (hash ^ hash >> 32) & (nodes->bucket_count - 1);
}

static struct node **bucket_of_node(const struct nodes *nodes,
				    const struct node *node)
{
	return &nodes->buckets[bucket_of(nodes, node->parent->id, node->name)];
}

/* As many buckets as slots, at least. */
static int grow_buckets(struct nodes *nodes, size_t count)
{
	struct node **buckets = calloc(count, sizeof(struct node *));

	if (!buckets)
		return -ENOMEM;
	free(nodes->buckets);
	nodes->buckets = buckets;
	nodes->bucket_count = count;
	for (size_t i = 0; i < nodes->slot_count; i++) {
		struct node *node = nodes->slots[i].node;
		struct node **bucket;

		if (!node || !node->parent)
			continue;
		bucket = bucket_of_node(nodes, node);
		node->next = *bucket;
		*bucket = node;
	}
	return 0;
}

static int grow(struct nodes *nodes)
{
	size_t capacity = nodes->capacity ? 2 * nodes->capacity : FIRST_SLOTS;
	struct node_slot *slots;

	if (capacity > TRIPWIRE_NODES_MAX)
		return -ENOMEM;
	slots = reallocarray(nodes->slots, capacity, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	nodes->slots = slots;
	nodes->capacity = capacity;
	return grow_buckets(nodes, capacity);
}

/* Gives the node a slot and so an id. */
static int place_node(struct nodes *nodes, struct node *node)
{
	uint32_t at;

	if (nodes->first_free) {
		at = nodes->first_free - 1;
		nodes->first_free = nodes->slots[at].next_free;
	} else {
		if (nodes->slot_count == nodes->capacity && grow(nodes))
			return -ENOMEM;
		at = (uint32_t)nodes->slot_count++;
		nodes->slots[at] = (struct node_slot){ 0 };
	}
	nodes->slots[at].node = node;
	nodes->slots[at].generation++;
	node->id = at + 1;
	return 0;
}

int nodes_open(struct nodes *ret_nodes)
{
	struct nodes nodes = { 0 };
	struct node *root = calloc(1, sizeof(*root) + 1);

	if (!root)
		return -ENOMEM;
	root->place = NO_PLACE;
	root->lookups = 1;
	root->is_fixed = true;
	if (place_node(&nodes, root)) {
		free(root);
		nodes_close(&nodes);
		return -ENOMEM;
	}
	*ret_nodes = nodes;
	return 0;
}

void nodes_close(struct nodes *nodes)
{
	for (size_t i = 0; i < nodes->slot_count; i++)
		free(nodes->slots[i].node);
	free(nodes->slots);
	free(nodes->buckets);
	*nodes = (struct nodes){ 0 };
}

struct node *nodes_find(const struct nodes *nodes, uint64_t id)
{
	if (id == 0 || id > nodes->slot_count)
		return NULL;
	return nodes->slots[id - 1].node;
}

uint32_t nodes_generation(const struct nodes *nodes, const struct node *node)
{
	return nodes->slots[node->id - 1].generation;
}

static bool is_same(const struct node *node,
		    const struct node_identity *identity)
{
	/* What appears at a place later may be of another kind. */
	if (node->is_fixed && identity->is_fixed)
		return node->parent->parent || node->kind == identity->kind;
	if (node->is_fixed || identity->is_fixed)
		return false;
	return node->device == identity->device &&
	       node->inode == identity->inode;
}

static struct node *find_child(const struct nodes *nodes,
			       const struct node *parent, const char *name,
			       const struct node_identity *identity)
{
	struct node *node = nodes->buckets[bucket_of(nodes, parent->id, name)];

	while (node && (node->parent != parent || !is_same(node, identity) ||
			strcmp(node->name, name) != 0))
		node = node->next;
	return node;
}

static int make_child(struct nodes *nodes, struct node *parent,
		      const char *name, const struct node_identity *identity,
		      struct node **ret_node)
{
	size_t length = strlen(name) + 1;
	struct node *node = calloc(1, sizeof(*node) + length);
	struct node **bucket;

	if (!node)
		return -ENOMEM;
	memcpy(node->name, name, length);
	node->parent = parent;
	node->place = identity->place;
	node->device = identity->device;
	node->inode = identity->inode;
	node->kind = identity->kind;
	node->is_fixed = identity->is_fixed;
	if (place_node(nodes, node)) {
		free(node);
		return -ENOMEM;
	}
	bucket = bucket_of_node(nodes, node);
	node->next = *bucket;
	*bucket = node;
	parent->users++;
	*ret_node = node;
	return 0;
}

int nodes_look_up(struct nodes *nodes, struct node *parent, const char *name,
		  const struct node_identity *identity, struct node **ret_node)
{
	struct node *node = find_child(nodes, parent, name, identity);
	int err = 0;

	if (!node)
		err = make_child(nodes, parent, name, identity, &node);
	if (err)
		return err;
	node->lookups++;
	*ret_node = node;
	return 0;
}

bool nodes_has_fixed(const struct nodes *nodes, const struct node *parent,
		     const char *name)
{
	const struct node_identity fixed = { .is_fixed = true };

	return find_child(nodes, parent, name, &fixed) != NULL;
}

static bool is_unused(const struct node *node)
{
	return node->parent && node->lookups == 0 && node->users == 0;
}

/* And what only it has kept. */
static void remove_unused(struct nodes *nodes, struct node *node)
{
	while (is_unused(node)) {
		struct node_slot *slot = &nodes->slots[node->id - 1];
		struct node **at = bucket_of_node(nodes, node);
		struct node *parent = node->parent;

		while (*at != node)
			at = &(*at)->next;
		*at = node->next;
		slot->node = NULL;
		slot->next_free = nodes->first_free;
		nodes->first_free = (uint32_t)node->id;
		free(node);
		parent->users--;
		node = parent;
	}
}

void nodes_forget(struct nodes *nodes, uint64_t id, uint64_t count)
{
	struct node *node = nodes_find(nodes, id);

	if (!node)
		return;
	node->lookups -= count < node->lookups ? count : node->lookups;
	remove_unused(nodes, node);
}

void nodes_use(struct node *node)
{
	node->users++;
}

void nodes_leave(struct nodes *nodes, struct node *node)
{
	node->users--;
	remove_unused(nodes, node);
}

int nodes_path(const struct node *node, size_t size, char *ret_path)
{
	char *start = ret_path + size;

	*--start = '\0';
	for (; node->parent && node->parent->parent; node = node->parent) {
		size_t length = strlen(node->name);

		if ((size_t)(start - ret_path) < length + 1)
			return -ENAMETOOLONG;
		if (*start)
			*--start = '/';
		start -= length;
		memcpy(start, node->name, length);
	}
	memmove(ret_path, start, size - (size_t)(start - ret_path));
	return 0;
}

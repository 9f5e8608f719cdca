// A node:test reporter that writes what really ran, as one line of JSON: `node --test` by itself calls a file without a
// test a passed test, and does not miss a test whose process ended in the middle of it.

const key = ({ file, nesting, name }) => JSON.stringify([file, nesting, name]);

export default async function* countReporter(events) {
  const counts = { passed: 0, failed: 0, skipped: 0, silent: [], unfinished: [], skips: [] };
  const started = new Map();
  const ran = new Set();
  const files = new Set();
  for await (const { type, data } of events) {
    if (data?.file === undefined || data.name === undefined) continue;
    files.add(data.file);
    if (data.name === data.file) {
      // Stands for the whole file: tells only whether it could be run.
      if (type === 'test:fail') {
        counts.failed += 1;
        ran.add(data.file);
      }
      continue;
    }
    if (type === 'test:dequeue') started.set(key(data), (started.get(key(data)) ?? 0) + 1);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    started.set(key(data), (started.get(key(data)) ?? 1) - 1);
    if (data.details?.type === 'suite') {
      // A suite's own failure (a hook) is counted; one that only repeats its tests' failures is not.
      if (type === 'test:fail' && data.details.error?.failureType !== 'subtestsFailed') {
        counts.failed += 1;
      }
      continue;
    }
    ran.add(data.file);
    if (data.skip !== undefined || data.todo !== undefined) {
      counts.skipped += 1;
      counts.skips.push({ name: data.name, reason: String(data.skip ?? data.todo) });
    } else if (type === 'test:pass') counts.passed += 1;
    else counts.failed += 1;
  }
  counts.silent = [...files].filter((file) => !ran.has(file));
  counts.unfinished = [...started].filter(([, open]) => open > 0).map(([text]) => JSON.parse(text));
  counts.failed += counts.silent.length + counts.unfinished.length;
  yield `${JSON.stringify(counts)}\n`;
}

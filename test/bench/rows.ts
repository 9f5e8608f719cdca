// From the timer's lines to rows: medians, spread, and the ratio to the first label's.

export interface Row {
  readonly label: string;
  readonly runs: number;
  readonly medianMs: number;
  readonly p10Ms: number;
  readonly p90Ms: number;
  readonly ratio: number;
}

export function medians(output: string, labels: readonly string[]): readonly Row[] {
  const times = new Map(labels.map((label) => [label, [] as number[]]));
  for (const line of output.split('\n').filter((text) => text !== '')) {
    const space = line.lastIndexOf(' ');
    const label = line.slice(0, space);
    times.get(label)?.push(Number(line.slice(space + 1)) / 1000);
  }
  const rows = [...times].map(([label, ms]) => {
    const sorted = ms.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
    return { label, runs: ms.length, medianMs: at(0.5), p10Ms: at(0.1), p90Ms: at(0.9) };
  });
  const base = rows[0]?.medianMs ?? NaN;
  return rows.map((row) => ({ ...row, ratio: row.medianMs / base }));
}

export function table(groups: Readonly<Record<string, readonly Row[]>>): string {
  return Object.entries(groups)
    .map(([name, rows]) =>
      [`${name} (ratio to ${rows[0]?.label ?? ''})`, ...rows.map(line)].join('\n'),
    )
    .join('\n\n');
}

function line({ label, runs, medianMs, p10Ms, p90Ms, ratio }: Row): string {
  const ms = (value: number) => value.toFixed(2).padStart(9);
  return `  ${label.padEnd(28)}${ms(medianMs)} ms   p10${ms(p10Ms)}   p90${ms(p90Ms)}   × ${ratio.toFixed(3)}   n=${runs}`;
}

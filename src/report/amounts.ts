const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `640 B`, `14.2 MB`: decimal units, as registries write them. */
export function byteText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.95 ? String(Math.round(value)) : value.toFixed(1)} ${UNITS[unit]!}`;
}

/** Whole seconds, rounded down: `40 s`, `2 min 3 s`, `1 h 5 min`. */
export function timeText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${String(seconds)} s`;
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

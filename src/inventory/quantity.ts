const UNITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, i) => [unit, 1024 ** (i + 1)])),
  ...Object.fromEntries(['k', 'M', 'G', 'T', 'P', 'E'].map((unit, i) => [unit, 1000 ** (i + 1)])),
  '': 1,
  m: 0.001,
};

/** The number that a quantity of Kubernetes stands for (`200Mi`, `0.5`, `500m`); undefined if it is none. */
export function quantityOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?(?:[eE]\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

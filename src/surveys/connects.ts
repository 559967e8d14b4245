function how(status: string, said: string): string {
  if (status === '124') return 'no answer within 10 s';
  if (/refused/i.test(said)) return 'refused';
  if (/no route|unreachable/i.test(said)) return 'no route';
  return said.trim() === '' ? `status ${status}` : said.trim();
}

/** The results of a client's connections: a line `ADDRESS PORT STATUS TEXT` each. */
export function readConnects(out: string): ReadonlyMap<string, string> {
  return new Map(
    out.split('\n').flatMap((line) => {
      const [, address, port, status, said] = /^(\S+) (\d+) (\d+) ?(.*)$/.exec(line) ?? [];
      return address === undefined
        ? []
        : [[`${address} ${port!}`, status === '0' ? 'open' : how(status!, said!)] as const];
    }),
  );
}

/** The packet sizes that a client measured, by address: a line `mtu ADDRESS MTU [TOLD]` each. */
export function readMtus(out: string): ReadonlyMap<string, { readonly mtu: number; readonly told?: number }> {
  return new Map(
    [...out.matchAll(/^mtu (\S+) (\d+) (\d*)$/gm)].map(([, address, mtu, told]) => [
      address!,
      { mtu: Number(mtu), ...(told === '' || told === mtu ? {} : { told: Number(told) }) },
    ]),
  );
}

function how(status: string, said: string): string {
  if (status === '124') return 'no answer within 10 s';
  if (/refused/i.test(said)) return 'refused';
  if (/no route|unreachable/i.test(said)) return 'no route';
  return said.trim() === '' ? `status ${status}` : said.trim();
}

/** What a client said about its ways: `ADDRESS PORT STATUS TEXT`, one a line. */
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

/** What a client said about the size of packets: `mtu ADDRESS MTU [TOLD]`, one a line, by address. */
export function readMtus(out: string): ReadonlyMap<string, { readonly mtu: number; readonly told?: number }> {
  return new Map(
    [...out.matchAll(/^mtu (\S+) (\d+) (\d*)$/gm)].map(([, address, mtu, told]) => [
      address!,
      { mtu: Number(mtu), ...(told === '' || told === mtu ? {} : { told: Number(told) }) },
    ]),
  );
}

function how(status: string, output: string): string {
  if (status === '124') return 'no answer within 10 s';
  if (/refused/i.test(output)) return 'refused';
  if (/no route|unreachable/i.test(output)) return 'no route';
  return output.trim() === '' ? `status ${status}` : output.trim();
}

/** Reads the results of a client's connections by `ADDRESS PORT`, from lines `ADDRESS PORT STATUS OUTPUT`. */
export function readConnects(out: string): ReadonlyMap<string, string> {
  return new Map(
    out.split('\n').flatMap((line) => {
      const [, address, port, status, output] = /^(\S+) (\d+) (\d+)(?: (.*))?/.exec(line) ?? [];
      return address === undefined
        ? []
        : [[`${address} ${port!}`, status === '0' ? 'open' : how(status!, output ?? '')] as const];
    }),
  );
}

/** Reads the packet sizes that a client measured, by address, from lines `mtu ADDRESS MTU [REPORTED]`. */
export function readMtus(out: string): ReadonlyMap<string, { readonly mtu: number; readonly reported?: number }> {
  return new Map(
    [...out.matchAll(/^mtu (\S+) (\d+) (\d*)$/gm)].map(([, address, mtu, reported]) => [
      address!,
      { mtu: Number(mtu), ...(reported === '' || reported === mtu ? {} : { reported: Number(reported) }) },
    ]),
  );
}

import type { Check, Finding } from './check.ts';

export const pathMtu: Check = {
  name: 'path-mtu',
  title: 'packets that fill the MTU of the interface come through between hosts',
  why: "A survey: with the overlay's UDP port each host also gets a datagram as large as the sender's interface allows, not to be fragmented. The overlay takes its MTU from the interface, so where the way between hosts carries less (a tunnel, a VPN, a switch without jumbo frames), small requests of pods work and downloads hang. Lower the MTU of the interfaces to what the way carries, or raise that of the way.",
  severities: ['error', 'warning'],
  test: ({ fleet: { surveys } }) => {
    const groups = new Map<string, { readonly finding: Omit<Finding, 'message'>; message: string }>();
    for (const { from, to, mtu, reported } of surveys?.ports.narrow ?? []) {
      const how = reported === undefined ? 'vanish' : `do not fit: a router told ${String(reported)}`;
      const key = `${from.name} ${how}`;
      const known = groups.get(key);
      if (known !== undefined) known.message += `, ${to.name}`;
      else
        groups.set(key, {
          finding: {
            severity: reported === undefined ? 'error' : 'warning',
            host: from.name,
            remedy: 'lower the MTU of the interfaces between hosts to what the way carries, or mend the way',
          },
          message: `packets of ${String(mtu)} bytes, the MTU of its interface, ${how}, on the way to ${to.name}`,
        });
    }
    return [...groups.values()].map(({ finding, message }) => ({ ...finding, message }));
  },
};

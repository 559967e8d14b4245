import { networkPlugin } from '../components/network-plugins/index.ts';
import { FactError } from '../errors.ts';
import { observedLinux } from '../facts/fleet.ts';
import type { Check, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** IPv6 needs it (RFC 8200), and little works below. */
const MINIMUM = 1280;

export const mtu: Check = {
  name: 'mtu',
  title: 'the interfaces between hosts have the same MTU, with room for the overlay',
  why: 'The overlay takes its own MTU from the interface of its host. Where hosts differ, large packets from one to the other vanish: small requests work, downloads hang.',
  severities: ['error', 'warning'],
  test: ({ inventory, fleet }) => {
    const header = networkPlugin(inventory).overheadBytes(inventory);
    const found: { host: string; name: string; mtu: number }[] = [];
    const findings: Finding[] = [];
    for (const { host, facts } of observedLinux(fleet)) {
      try {
        const carrier = facts.interfaces.find(({ addresses }) => addresses.includes(host.internalAddress));
        if (carrier !== undefined) found.push({ host: host.name, name: carrier.name, mtu: carrier.mtu });
      } catch (error) {
        if (!(error instanceof FactError)) throw error;
        findings.push(unknown(error));
      }
    }
    const largest = Math.max(...found.map((one) => one.mtu));
    return [
      ...findings,
      ...found.flatMap(({ host, name, mtu: size }): readonly Finding[] => {
        if (size - header < MINIMUM)
          return [
            {
              severity: 'error',
              host,
              message: `${name} has an MTU of ${String(size)}, and ${String(MINIMUM + header)} are needed`,
            },
          ];
        return size === largest
          ? []
          : [
              {
                severity: 'warning',
                host,
                message: `${name} has an MTU of ${String(size)}, other hosts have ${String(largest)}`,
                remedy: 'give all interfaces between hosts the same MTU',
              },
            ];
      }),
    ];
  },
};

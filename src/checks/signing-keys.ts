import { endingDay } from '../facts/linux/keyrings.ts';
import { eachHost } from './each-host.ts';

/** The signing keys of the repositories on a host are valid for another 30 days. */
export const signingKeys = eachHost(
  {
    name: 'signing-keys',
    title: 'the signing keys of the package repositories are valid for 30 days and more',
    why: 'The package manager installs nothing from a repository whose key has expired. Vendors extend a key under the same fingerprint, so `up` fetches a key anew that has run out or does so within 30 days; where it gets no newer copy, it keeps the one that is there, and tries again a day later. Where the inventory has the key as a file, put the newer copy there.',
    severities: ['warning'],
  },
  ({ facts }) =>
    [...facts.keyrings].flatMap(([path, { fingerprints, end }]) => {
      const day = endingDay(end, facts.nowMs);
      if (day === undefined) return [];
      const verb = (end as number) < facts.nowMs ? 'has run out' : 'runs out';
      return [
        {
          severity: 'warning' as const,
          message: `the signing key ${fingerprints.join(', ')} in ${path} ${verb} on ${day}`,
          remedy:
            'kbuild up fetches it anew; if this stays, give a copy that the vendor has extended as repository.key',
        },
      ];
    }),
);

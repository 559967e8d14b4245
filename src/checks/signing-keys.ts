import { endingDay } from '../facts/linux/keyrings.ts';
import { eachHost } from './each-host.ts';

export const signingKeys = eachHost(
  {
    name: 'signing-keys',
    title: 'the signing keys of the package repositories are valid for more than 30 days',
    why: 'The package manager installs nothing from a repository whose key has expired. Vendors extend a key under the same fingerprint, so `up` fetches a key again that has run out or has 30 days left or fewer. If it gets no newer copy, it keeps the old one and tries again a day later. If the inventory has the key as a file, put the newer copy there.',
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

/** What `validate` says of overrides, held against kubeadm of the minors that the lab's hosts run only on demand; kubeadm alone is built for it. */
import { expect, test } from 'vitest';
import { minorOf, supportedMinors } from '../../../src/versions.ts';
import { corpusOf, disagreements, kubeadmOf } from '../kubeadm-oracle.ts';
import { KUBERNETES, OF_OLDER_MINORS } from '../versions.ts';

test('with the versions of the short test, each supported minor has one', () => {
  const held = [...KUBERNETES.map(({ version }) => version), ...OF_OLDER_MINORS].map(minorOf);
  expect([...new Set(held)].toSorted()).toEqual(supportedMinors);
});

test.each(OF_OLDER_MINORS)('what kubeadm %s refuses, validate refuses, but for the listed', async (version) => {
  expect(corpusOf(version).length).toBeGreaterThan(150);
  expect(await disagreements(await kubeadmOf(version), version)).toEqual([]);
});

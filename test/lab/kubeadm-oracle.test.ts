/** What `validate` says of overrides, held against the lab's kubeadm of each minor: validate refuses what kubeadm refuses. */
import { describe, expect, test } from 'vitest';
import { DOCUMENTS } from '../../src/inventory/file/rules/kubernetes/places.ts';
import { KINDS } from '../tools/override-corpus.ts';
import { corpusOf, disagreements, kubeadmOf } from './kubeadm-oracle.ts';
import { KUBERNETES } from './versions.ts';

describe.each(KUBERNETES)('kubeadm $version', ({ version }) => {
  test(
    'what it refuses, validate refuses; what it takes, validate takes, but for the listed',
    { timeout: 1_800_000 },
    async () => {
      expect(DOCUMENTS.length + 1).toBe(Object.keys(KINDS).length);
      expect(corpusOf(version).length).toBeGreaterThan(150);
      expect(await disagreements(await kubeadmOf(version), version)).toEqual([]);
    },
  );
});

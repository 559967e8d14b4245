import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { paths } from '../paths.ts';
import { sha256Of } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { fileState } from './file.step.ts';
import type { TrustStore } from './packages/distribution.value.ts';
import { knownDistribution, trustFolders } from './packages/distributions.value.ts';

/** A certificate as a file of the system's store, whose name says whose it is. */
const fileOf = ({ folder, extension }: TrustStore, pem: string): string =>
  `${folder}/kbuild-${sha256Of(pem).slice(0, 16)}.${extension}`;

/** The record of the files in the store: one path a line. It is complete only after the store was made. */
const recordOf = (files: readonly string[]): string => files.map((file) => `${file}\n`).join('');

/**
 * Stands in the record before the first file: an inventory without authorities then still takes out what a run left
 * that was cut off.
 */
const BEGUN = 'begun\n';

/** Removes unwanted files, makes the store from the others, and writes the record. */
const settled = (store: TrustStore, wanted: readonly string[]) =>
  script('host/trusted-cas.sh', {
    FOLDER: store.folder,
    EXTENSION: store.extension,
    UPDATE: store.update,
    WANTED: wanted,
    RECORD: paths.trustedCas,
  });

function changes(target: Target, pems: readonly string[]): readonly Change[] {
  const { host, facts } = target;
  const record = fileState(target, paths.trustedCas);
  if (pems.length === 0 && record.kind === 'absent') return [];
  const store = knownDistribution(facts)?.trustStore;
  if (store === undefined)
    return [
      {
        summary: `trust ${String(pems.length)} certificate authorities (found an unknown system)`,
        apply: () =>
          Promise.reject(
            new Refused('unsupported-system', host.name, `${facts.osRelease.prettyName} is not yet supported`),
          ),
      },
    ];
  const files = new Map(pems.map((pem) => [fileOf(store, pem), pem] as const));
  const wanted = [...files.keys()].toSorted();
  const isNew = record.kind !== 'file' || record.sha256 !== sha256Of(recordOf(wanted));
  const missing = wanted.filter((path) => {
    const state = fileState(target, path);
    return state.kind !== 'file' || state.sha256 !== sha256Of(files.get(path)!);
  });
  if (!isNew && missing.length === 0) return [];
  const found = missing.length > 0 ? `${String(missing.length)} missing` : 'others';
  return [
    {
      summary:
        pems.length === 0
          ? `take kbuild's certificate authorities out of the system's store`
          : `trust ${wanted.join(', ')} (found ${found})`,
      apply: async (on) => {
        if (record.kind === 'absent') await on(host).write(paths.trustedCas, BEGUN, 0o644);
        for (const path of missing) await on(host).write(path, files.get(path)!, 0o644);
        await on(host).run(settled(store, wanted));
      },
    },
  ];
}

const watches: Step['watches'] = ({ host }) => ({
  files: [paths.trustedCas],
  trees: host.trustedCas.length === 0 ? [] : trustFolders,
});

/**
 * The system trusts the certificate authorities of the inventory, besides its own; those that left the inventory no
 * more.
 */
export const trustedCas: Step = {
  name: 'trusted-cas',
  watches,
  diff: (target) => changes(target, target.host.trustedCas),
};

/** The system trusts none of the inventory's certificate authorities any more. */
export const noTrustedCas: Step = { name: 'no-trusted-cas', watches, diff: (target) => changes(target, []) };

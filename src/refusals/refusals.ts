import { certificatePages } from './certificates.ts';
import { clusterPages, versionPages } from './cluster.ts';
import { backupPages, etcdPages } from './etcd.ts';
import { endpointPages, hostPages, runPages } from './hosts.ts';

/**
 * What docs/refusals.md and `kbuild explain refusal NAME` say about a refusal (exit 7). It stands under its name, which
 * is stable: scripts and people rely on it.
 */
interface RefusalPage {
  /** The rest of the sentence "kbuild refuses when …". */
  readonly title: string;
  /** What would go wrong otherwise, and what the operator does. Markdown; a list: the lines of one paragraph. */
  readonly why: string | readonly string[];
}

/** Refusals by subject, as docs/refusals.md shows them. */
const SUBJECTS: Readonly<Record<string, Readonly<Partial<Record<RefusalName, RefusalPage>>>>> = {
  'Clusters and their hosts': clusterPages,
  Runs: runPages,
  'A host': hostPages,
  'Endpoint, load balancers and DNS': endpointPages,
  etcd: etcdPages,
  Backups: backupPages,
  'Authorities and certificates': certificatePages,
  'Versions and upgrades': versionPages,
};

/** The name of a refusal: `Refused` takes it, exit 7 prints it. */
export type RefusalName =
  | keyof typeof clusterPages
  | keyof typeof runPages
  | keyof typeof hostPages
  | keyof typeof endpointPages
  | keyof typeof etcdPages
  | keyof typeof backupPages
  | keyof typeof certificatePages
  | keyof typeof versionPages;

/** A refusal in docs/refusals.md. */
export interface NamedRefusal extends Pick<RefusalPage, 'title'> {
  readonly name: RefusalName;
  readonly why: string;
}

/** All refusals, by subject. */
export const refusalSubjects: readonly { readonly subject: string; readonly refusals: readonly NamedRefusal[] }[] =
  Object.entries(SUBJECTS).map(([subject, pages]) => ({
    subject,
    refusals: Object.entries<RefusalPage>(pages).map(([name, { title, why }]) => ({
      name: name as RefusalName,
      title,
      why: typeof why === 'string' ? why : why.join(' '),
    })),
  }));

/** All refusals. */
export const refusals: readonly NamedRefusal[] = refusalSubjects.flatMap((one) => one.refusals);

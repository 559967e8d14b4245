import { Refused } from '../errors.ts';
import type { StoredObjects } from '../facts/upgrade-parts.ts';
import type { Inventory } from '../model/inventory.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { removedTables } from './removed.ts';

/** True for an API version that a later one does not convert: objects of alpha versions have to be deleted before it goes. */
export const isAlpha = (groupVersion: string): boolean => /\bv\d+alpha\d+\b/.test(groupVersion);

/**
 * The alpha API versions of kinds that Kubernetes no longer knows on the way from version `from` to version `to`, as kubectl takes
 * them: `Workload.v1alpha2.scheduling.k8s.io`. What is stored in etcd in such a version, no newer API server can read (release
 * notes of 1.35 and 1.37: "delete all objects before").
 */
export const unreadableApis = (from: string, to: string): readonly string[] =>
  removedTables
    .filter(({ minor }) => compareVersions(minor, minorOf(from)) > 0 && compareVersions(minor, minorOf(to)) <= 0)
    .flatMap(({ apis }) => apis)
    .filter(isAlpha)
    .map((api) => {
      const [group = '', version = '', kind = ''] = api.split('/');
      return `${kind}.${version}.${group}`;
    });

/** One refusal for each API version with objects that no newer API server can read. */
export const unreadableRefusals = (
  { name, kubernetes: { minor } }: Inventory,
  found: readonly StoredObjects[],
): readonly Refused[] =>
  found.map(
    ({ api, count }) =>
      new Refused(
        name,
        `Kubernetes ${minor} cannot read ${String(count)} ${count === 1 ? 'object' : 'objects'} of ${api}, and has no newer version of them`,
        `delete those objects yourself when you know what they are for (\`kubectl get ${api} -A\`), then run \`kbuild upgrade\` again`,
      ),
  );

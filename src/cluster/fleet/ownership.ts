import { type JsonObject, within } from '../../shell/decode.ts';

/** Field manager of everything that kbuild applies. */
export const FIELD_MANAGER = 'kbuild';

/** Label of every object that kbuild owns. */
export const OWNER_LABEL = { name: 'app.kubernetes.io/managed-by', value: 'kbuild' } as const;

/** Annotation of an object: SHA-256 of what was applied. */
export const HASH_ANNOTATION = 'kbuild.dev/hash';

/** Annotation of a node: labels and taints that kbuild set and would take back. */
export const NODE_ANNOTATION = 'kbuild.dev/applied';

/** The ConfigMap in which kbuild lists the objects that it applied, by `objectKey`. */
export const RECORD = { namespace: 'kube-system', name: 'kbuild', key: 'objects' } as const;

/**
 * The ConfigMap with the settings that kbuild last gave kubeadm: it shows which settings were edited or removed since.
 * `unfinished`: a list of those that a run has begun to change, until all control planes have them.
 */
export const SETTINGS = {
  namespace: 'kube-system',
  name: 'kbuild-settings',
  key: 'settings',
  unfinished: 'unfinished',
} as const;

/** The fields of an object that name it. */
export function identity(object: JsonObject): JsonObject {
  const { name, namespace } = within(object, 'metadata');
  return {
    apiVersion: object['apiVersion'],
    kind: object['kind'],
    metadata: namespace === undefined ? { name } : { name, namespace },
  };
}

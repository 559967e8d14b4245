import { parseAllDocuments } from 'yaml';
import { knownVersion } from '../../kubeadm/tables.value.ts';
import { mismatches } from '../../kubeadm/typed.value.ts';
import { isObject } from '../../shell/decode.ts';
import { showPath } from '../schema/path.ts';

/**
 * What a kubelet would not know in a patch of its configuration (`kubeletconfiguration…`), each with its field. Empty
 * for a JSON patch, for directives of strategic patches, and for a version that is newer than the tables.
 */
export function kubeletPatchProblems(content: string, version: string): readonly string[] {
  const { minor, isSure } = knownVersion(version);
  if (!isSure) return [];
  return parseAllDocuments(content, { logLevel: 'silent' }).flatMap((document) => {
    const patch: unknown = document.errors.length > 0 ? undefined : document.toJS();
    if (!isObject(patch)) return [];
    return mismatches(patch, 'KubeletConfiguration', minor)
      .filter(({ keys }) => !['apiVersion', 'kind'].includes(String(keys[0])))
      .filter(({ keys }) => !keys.some((key) => String(key).startsWith('$')))
      .map(({ keys, message }) => `${showPath(keys)}: ${message}`);
  });
}

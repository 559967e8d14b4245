import { type JsonObject, objectOf, objectsOf, textIn, textsIn, within } from '../shell/decode.ts';

/** Settings of kubeadm's ClusterConfiguration, as far as kbuild reads them. Throws on another form. */
function requireForm(cluster: JsonObject): void {
  for (const part of [...['apiServer', 'controllerManager', 'scheduler'].map((key) => [key]), ['etcd', 'local']]) {
    const { extraArgs, extraEnvs, certSANs } = within(cluster, ...part);
    for (const { name } of [...objectsOf(extraArgs), ...objectsOf(extraEnvs)]) textIn(name);
    textsIn(certSANs);
  }
}

/**
 * The settings that kbuild last gave kubeadm. A note that cannot be parsed, or has another form, counts as missing: the
 * facts decide.
 */
export function settingsNote(text: string | undefined): JsonObject | undefined {
  try {
    if (text === undefined) return undefined;
    const note = objectOf(JSON.parse(text));
    for (const part of Object.values(note)) objectOf(part);
    requireForm(within(note, 'cluster'));
    return note;
  } catch {
    return undefined;
  }
}

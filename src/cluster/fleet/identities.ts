import { kubeconfigOf, type JsonObject, objectsOf, textIn, within } from '../../shell/decode.ts';
import { Secret } from '../../shell/secret.ts';
import { type ClientIdentity, Detour } from './https-peer.ts';

const decoded = (data: unknown): string => Buffer.from(textIn(data), 'base64').toString('utf8');

const named = (list: unknown, name: unknown): JsonObject | undefined =>
  objectsOf(list).find((one) => one['name'] === name);

function identityIn(text: string): ClientIdentity | undefined {
  const { whole } = kubeconfigOf(text);
  const context = within(named(whole['contexts'], whole['current-context']), 'context');
  const cluster = within(named(whole['clusters'], context['cluster']), 'cluster');
  const user = within(named(whole['users'], context['user']), 'user');
  const data = [cluster['certificate-authority-data'], user['client-certificate-data'], user['client-key-data']];
  // What leads to a file or a program of the host, or trusts any server, is kubectl's to use.
  const others = ['tls-server-name', 'insecure-skip-tls-verify', 'proxy-url'].some((key) => cluster[key] !== undefined);
  if (others || data.includes(undefined)) return undefined;
  const [ca, certificate, key] = data.map(decoded);
  return { ca: ca!, certificate: certificate!, key: Secret.of(key!) };
}

/** Who the current context of a kubeconfig is. @throws Detour if the file alone does not tell it */
export function kubeconfigIdentity(text: string): ClientIdentity {
  let found: ClientIdentity | undefined;
  try {
    found = identityIn(text);
  } catch {
    // Its text may hold a key, and so may the parser's error.
  }
  if (found === undefined) throw new Detour('the administrator’s kubeconfig holds no certificate that kbuild can use');
  return found;
}

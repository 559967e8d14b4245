import { HANDLER_LABEL_PREFIX } from '../../inventory/runtime-handlers.ts';
import { itemsOf, type JsonObject, objectOf, objectsOf, textIn, textsOf, within } from '../../shell/decode.ts';
import { KUBEADM_RULES } from '../../upgrade/addons.facts.ts';
import { type ClusterChannel, METADATA_OF_ONE, METADATA_ONLY } from './channel.ts';
import { HASH_ANNOTATION } from './ownership.ts';

/**
 * A probe of the cluster over SSH's own channel: the text that its command prints on a control plane, so that one
 * parser reads both. Rejects with what the server says, or with a Detour.
 */
export type Over = (channel: ClusterChannel) => Promise<string>;

const RUNNING = 'fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed';

/** A field's text; empty where it is missing. */
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** The items of a list of metadata: the API server writes an empty one as null. */
const metadataIn = (list: string): readonly JsonObject[] => objectsOf(objectOf(JSON.parse(list))['items']);

/** A line of columns with tabs between. */
const row = (...columns: readonly string[]): string => columns.join('\t');

/** What `jsonpath` prints of a pod's owner: kind, name and the hash of its template. */
const ownerOf = (pod: JsonObject): readonly string[] => {
  const { ownerReferences, labels } = within(pod, 'metadata');
  const [owner = {}] = objectsOf(ownerReferences);
  return [text(owner['kind']), text(owner['name']), textsOf(labels)['pod-template-hash'] ?? ''];
};

/** The sources of all projected volumes of a pod. */
const projectedSources = (pod: JsonObject): readonly JsonObject[] =>
  objectsOf(within(pod, 'spec')['volumes']).flatMap((volume) => objectsOf(within(volume, 'projected')['sources']));

/** One field of these objects, where it is there, with spaces between. */
const fieldOf = (objects: readonly JsonObject[], object: string, field: string): string =>
  objects
    .map((one) => text(within(one, object)[field]))
    .filter((value) => value !== '')
    .join(' ');

function podRow(pod: JsonObject, last: string): string {
  const { namespace, name } = within(pod, 'metadata');
  return row('pod', text(namespace), text(name), text(within(pod, 'status')['startTime']), ...ownerOf(pod), last);
}

/** As templates/cluster/ca-readers.sh prints it. */
export const caReadersOver: Over = async ({ told, get }) => {
  if (!(await told('rotations')).split('\n').includes('ca-new.crt')) return '';
  const [given, pods] = await Promise.all([
    get('/api/v1/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt', METADATA_ONLY),
    get(`/api/v1/pods?${RUNNING}`),
  ]);
  return [
    ...metadataIn(given).map((item) => {
      const { namespace, managedFields } = within(item, 'metadata');
      const times = objectsOf(managedFields).map(({ time }) => text(time));
      return row('given', text(namespace), times.join(' '));
    }),
    ...itemsOf(pods).map((pod) => podRow(pod, fieldOf(projectedSources(pod), 'configMap', 'name'))),
  ].join('\n');
};

/** What a token's Secret tells of it: its header alone; `-` for a token without one. */
const headerOf = (token: string): string =>
  token === '' ? '' : (/^([A-Za-z0-9_-]*)\./.exec(Buffer.from(token, 'base64').toString('utf8'))?.[1] ?? '-');

/** As templates/cluster/token-use.sh prints it. */
export const tokenUseOver: Over = async ({ told, get }) => {
  if (!(await told('rotations')).split('\n').includes('sa-new.pub')) return 'end';
  const [pods, secrets] = await Promise.all([
    get(`/api/v1/pods?${RUNNING}`),
    get('/api/v1/secrets?fieldSelector=type%3Dkubernetes.io/service-account-token'),
  ]);
  return [
    ...itemsOf(pods).map((pod) =>
      podRow(pod, fieldOf(projectedSources(pod), 'serviceAccountToken', 'expirationSeconds')),
    ),
    ...itemsOf(secrets).map((secret) => {
      const { namespace, name } = within(secret, 'metadata');
      return row('secret', text(namespace), text(name), headerOf(text(within(secret, 'data')['token'])));
    }),
    'end',
  ].join('\n');
};

/** Nodes that one request is made for each of: beyond them one for all pods costs less. */
const MOST_NODES = 20;

/** As templates/runtime/handler-pods.sh prints it. `kept`: `NODE HANDLER` of the inventory. */
export const handlerPodsOver =
  (kept: readonly string[], nodes: Over): Over =>
  async (channel) => {
    const losing = itemsOf(await nodes(channel)).flatMap((node) => {
      const { name, labels } = within(node, 'metadata');
      const handlers = Object.keys(textsOf(labels)).filter((label) => label.startsWith(HANDLER_LABEL_PREFIX));
      const isLosing = handlers.some(
        (label) => !kept.includes(`${text(name)} ${label.slice(HANDLER_LABEL_PREFIX.length)}`),
      );
      return isLosing ? [text(name)] : [];
    });
    if (losing.length === 0) return '';
    const ofNodes =
      losing.length > MOST_NODES ? [''] : losing.map((node) => `,spec.nodeName%3D${encodeURIComponent(node)}`);
    const [classes, ...pods] = await Promise.all([
      channel.get('/apis/node.k8s.io/v1/runtimeclasses'),
      ...ofNodes.map((node) => channel.get(`/api/v1/pods?${RUNNING}${node}`)),
    ]);
    return [
      ...itemsOf(classes).map((one) => row('class', text(within(one, 'metadata')['name']), text(one['handler']))),
      ...pods.flatMap(itemsOf).flatMap((pod) => {
        const { namespace, name } = within(pod, 'metadata');
        const { nodeName, runtimeClassName } = within(pod, 'spec');
        const columns = [namespace, name, nodeName, runtimeClassName].map(text);
        return columns[2] === '' || columns[3] === '' ? [] : [row('pod', ...columns)];
      }),
    ].join('\n');
  };

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Where the API has an object `KIND/NAME` of kubeadm's rules. */
function rulePath(object: string): string {
  const [kind = '', name = ''] = object.split('/');
  const folder = kind.startsWith('cluster') ? RBAC : `${RBAC}/namespaces/kube-system`;
  return `${folder}/${kind}s/${encodeURIComponent(name)}`;
}

/** As `kubectl get … -o name` prints it. */
export const kubeadmRulesOver: Over = async ({ find }) => {
  const found = await Promise.all(KUBEADM_RULES.map(({ object }) => find(rulePath(object), METADATA_OF_ONE)));
  return KUBEADM_RULES.filter((_, i) => found[i] !== undefined)
    .map(({ object }) => object.replace('/', '.rbac.authorization.k8s.io/'))
    .join('\n');
};

const TOKENS = '/api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io/token';

/** Ids and descriptions of bootstrap tokens. Secrets are read only where there are such tokens. */
export const tokensOver: Over = async ({ get }) => {
  if (metadataIn(await get(TOKENS, METADATA_ONLY)).length === 0) return '';
  return itemsOf(await get(TOKENS))
    .map((secret) => within(secret, 'data'))
    .map((data) => `${text(data['token-id'])} ${text(data['description'])}`)
    .join('\n');
};

/** How the API calls a kind of objects. */
interface Resource {
  readonly name: string;
  readonly isNamespaced: boolean;
}

const inNamespace = (name: string): Resource => ({ name, isNamespaced: true });
const inCluster = (name: string): Resource => ({ name, isNamespaced: false });

/**
 * Kinds that every version of Kubernetes that kbuild knows has (its OpenAPI, api/openapi-spec): to ask for them costs a
 * round trip.
 */
const BUILT_IN: Readonly<Record<string, Readonly<Record<string, Resource>>>> = {
  v1: {
    ConfigMap: inNamespace('configmaps'),
    Namespace: inCluster('namespaces'),
    Secret: inNamespace('secrets'),
    Service: inNamespace('services'),
    ServiceAccount: inNamespace('serviceaccounts'),
  },
  'apps/v1': { DaemonSet: inNamespace('daemonsets'), Deployment: inNamespace('deployments') },
  'rbac.authorization.k8s.io/v1': {
    ClusterRole: inCluster('clusterroles'),
    ClusterRoleBinding: inCluster('clusterrolebindings'),
    Role: inNamespace('roles'),
    RoleBinding: inNamespace('rolebindings'),
  },
};

/** Of a group and version: the resource of each kind. Undefined where the API has no such version. */
async function resourcesOf(
  { find }: ClusterChannel,
  apiVersion: string,
  kinds: readonly string[],
): Promise<ReadonlyMap<string, Resource> | undefined> {
  const builtIn = new Map(Object.entries(BUILT_IN[apiVersion] ?? {}));
  if (kinds.every((kind) => builtIn.has(kind))) return builtIn;
  const found = await find(apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
  if (found === undefined) return undefined;
  const resources = objectsOf(objectOf(JSON.parse(found))['resources']);
  return new Map(
    resources
      .filter(({ name }) => !textIn(name).includes('/'))
      .map(({ kind, name, namespaced }) => [textIn(kind), { name: textIn(name), isNamespaced: namespaced === true }]),
  );
}

/** Where the API has each of these objects; undefined for one whose kind it does not know. */
async function pathsOf(
  channel: ClusterChannel,
  wanted: readonly JsonObject[],
): Promise<readonly (string | undefined)[]> {
  const versions = [...new Set(wanted.map(({ apiVersion }) => textIn(apiVersion)))];
  const kindsOf = (version: string): readonly string[] =>
    wanted.filter(({ apiVersion }) => textIn(apiVersion) === version).map(({ kind }) => textIn(kind));
  const resources = versions.map(
    async (version) => [version, await resourcesOf(channel, version, kindsOf(version))] as const,
  );
  const known = new Map(await Promise.all(resources));
  return wanted.map((object) => {
    const version = textIn(object['apiVersion']);
    const resource = known.get(version)?.get(textIn(object['kind']));
    if (resource === undefined) return undefined;
    const { name, namespace } = within(object, 'metadata');
    const space = resource.isNamespaced ? `/namespaces/${encodeURIComponent(textIn(namespace, 'default'))}` : '';
    const root = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
    return `${root}${space}/${resource.name}/${encodeURIComponent(textIn(name))}`;
  });
}

async function found(channel: ClusterChannel, wanted: readonly JsonObject[], accept?: string) {
  const answers = await Promise.all(
    (await pathsOf(channel, wanted)).map((path) =>
      path === undefined ? Promise.resolve(undefined) : channel.find(path, accept),
    ),
  );
  return answers.flatMap((answer) => (answer === undefined ? [] : [objectOf(JSON.parse(answer))]));
}

/** As `kubectl get … -o json` prints them, which leaves the managed fields out. */
export const objectsOver =
  (wanted: readonly JsonObject[]): Over =>
  async (channel) => {
    const items = (await found(channel, wanted)).map((object) => {
      const metadata = Object.entries(within(object, 'metadata')).filter(([key]) => key !== 'managedFields');
      return { ...object, metadata: Object.fromEntries(metadata) };
    });
    return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  };

/** Namespace, name and hash of Secrets, whose content stays where it is. */
export const secretsOver =
  (wanted: readonly JsonObject[]): Over =>
  async (channel) =>
    (await found(channel, wanted, METADATA_OF_ONE))
      .map((secret) => {
        const { namespace, name, annotations } = within(secret, 'metadata');
        return `${text(namespace)} ${text(name)} ${textsOf(annotations)[HASH_ANNOTATION] ?? '<none>'}`;
      })
      .join('\n');

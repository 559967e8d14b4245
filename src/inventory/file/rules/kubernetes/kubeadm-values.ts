import { isObject } from '../../../../shell/decode.ts';
import { isIP } from '../../../addresses.ts';
import { type Path, problem, type Rule, type Violation } from '../../../schema/rule.ts';
import { argumentLists, below } from './places.ts';

/*
 * What kubeadm checks in its configuration beyond its types: cmd/kubeadm/app/apis/kubeadm/validation/validation.go.
 * What kube-proxy checks when it starts: pkg/proxy/apis/config/validation/validation.go.
 */

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const DNS_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Lists of names and addresses of certificates. */
const NAMES: readonly (readonly string[])[] = [
  ['apiServer', 'certSANs'],
  ['etcd', 'local', 'serverCertSANs'],
  ['etcd', 'local', 'peerCertSANs'],
];

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

/** True for a name or an address of a certificate: kubeadm's ValidateCertSANs. */
const isName = (name: string): boolean => isIP(name) !== 0 || (name.length <= 253 && DNS_NAME.test(name));

function nameProblem(name: string): string | undefined {
  if (isName(name)) return undefined;
  const lower = name.toLowerCase();
  if (/[,\s]/.test(name)) return 'must be one name; write each as an item of its own';
  return (
    'must be a DNS name or an IP ' +
    `address${isName(lower) ? ` in lower case: ${lower}` : ', without scheme, port and path'}`
  );
}

/** Paths on hosts that must be absolute. */
const ABSOLUTE: readonly (readonly string[])[] = [['etcd', 'local', 'dataDir']];

/** What `reset` can be told about unmounting: ValidateUnmountFlags. */
const UNMOUNT_FLAGS: readonly unknown[] = ['MNT_FORCE', 'MNT_DETACH', 'MNT_EXPIRE', 'UMOUNT_NOFOLLOW'];

/** kubeadm accepts the values of its configuration. */
export const kubeadmValues: Rule = ({ kubeadm: { cluster, reset } }) => {
  const at = (kind: string, ...keys: Path): Path => ['kubeadm', kind, ...keys];
  return [
    ...NAMES.flatMap((keys) =>
      list(below(cluster, ...keys)).flatMap((name, i): readonly Violation[] => {
        const wrong = typeof name === 'string' ? nameProblem(name) : undefined;
        return wrong === undefined ? [] : [problem(at('cluster', ...keys, i), wrong)];
      }),
    ),
    ...argumentLists.flatMap((keys) =>
      list(below(cluster, ...keys)).flatMap((one, i) =>
        isObject(one) && (one['name'] === undefined || one['name'] === null || one['name'] === '')
          ? [problem(at('cluster', ...keys, i), 'must have a name: { name: profiling, value: "false" }')]
          : [],
      ),
    ),
    ...ABSOLUTE.flatMap((keys) => {
      const path = below(cluster, ...keys);
      return typeof path === 'string' && !path.startsWith('/')
        ? [problem(at('cluster', ...keys), 'must be an absolute path, e.g. /var/lib/etcd')]
        : [];
    }),
    ...list(reset['unmountFlags']).flatMap((flag, i) =>
      UNMOUNT_FLAGS.includes(flag)
        ? []
        : [problem(at('reset', 'unmountFlags', i), `must be one of ${UNMOUNT_FLAGS.join(', ')}`)],
    ),
  ];
};

/** Whole numbers of kube-proxy's configuration. */
const PROXY_BOUNDS: readonly (readonly [keys: readonly string[], least: number, most: number])[] = [
  [['iptables', 'masqueradeBit'], 0, 31],
  [['nftables', 'masqueradeBit'], 0, 31],
  [['oomScoreAdj'], -1000, 1000],
  [['conntrack', 'maxPerCore'], 0, Infinity],
  [['conntrack', 'min'], 0, Infinity],
  [['clientConnection', 'burst'], 0, Infinity],
];

const isNetwork = (text: string): boolean => {
  const [address = '', bits = ''] = text.split('/');
  return isIP(address) !== 0 && /^\d{1,3}$/.test(bits);
};

/** kube-proxy starts with the values of its configuration. */
export const kubeProxyValues: Rule = ({ kubeadm: { kubeProxy } }) => {
  const at = (...keys: Path): Path => ['kubeadm', 'kubeProxy', ...keys];
  return [
    ...PROXY_BOUNDS.flatMap(([keys, least, most]) => {
      const value = below(kubeProxy, ...keys);
      if (typeof value !== 'number' || (value >= least && value <= most)) return [];
      const allowed = most === Infinity ? `at least ${String(least)}` : `from ${String(least)} to ${String(most)}`;
      return [problem(at(...keys), `must be ${allowed}`)];
    }),
    ...list(kubeProxy['nodePortAddresses']).flatMap((one, i) =>
      typeof one !== 'string' || one === 'primary' || isNetwork(one)
        ? []
        : [problem(at('nodePortAddresses', i), 'must be "primary" or a network, e.g. 10.0.0.0/24')],
    ),
    ...list(below(kubeProxy, 'ipvs', 'excludeCIDRs')).flatMap((one, i) =>
      typeof one !== 'string' || isNetwork(one)
        ? []
        : [problem(at('ipvs', 'excludeCIDRs', i), 'must be a network, e.g. 10.0.0.0/24')],
    ),
    ...(isObject(kubeProxy['detectLocal']) || kubeProxy['detectLocalMode'] === undefined
      ? []
      : detectLocal(kubeProxy['detectLocalMode'], at('detectLocalMode'))),
  ];
};

const DETECTS: Readonly<Record<string, string>> = {
  BridgeInterface: 'detectLocal.bridgeInterface',
  InterfaceNamePrefix: 'detectLocal.interfaceNamePrefix',
};

const detectLocal = (mode: unknown, path: Path): readonly Violation[] => {
  const needed = typeof mode === 'string' && Object.hasOwn(DETECTS, mode) ? DETECTS[mode] : undefined;
  return needed === undefined ? [] : [problem(path, `${String(mode)} needs ${needed}`)];
};

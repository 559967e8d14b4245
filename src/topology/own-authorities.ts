import type { Authority, OwnAuthorities } from '../model/control-plane.ts';
import type { Inventory } from '../model/inventory.ts';

/** The setting below `certificates` that brings each of kubeadm's authorities. */
export const AUTHORITY_SETTINGS = {
  ca: 'ca',
  'etcd-ca': 'etcdCa',
  'front-proxy-ca': 'frontProxyCa',
} as const satisfies Readonly<Record<string, keyof OwnAuthorities>>;

/** One of kubeadm's authorities, as facts and `kbuild certs` call it. */
export type KubeadmAuthority = keyof typeof AUTHORITY_SETTINGS;

/** All of them. */
export const KUBEADM_AUTHORITIES = Object.keys(AUTHORITY_SETTINGS) as readonly KubeadmAuthority[];

type WithCertificates = Pick<Inventory, 'certificates'>;

/** The user's own authority; undefined if kubeadm makes it, and for `sa`, which is no authority. */
export const ownAuthority = (
  { certificates }: WithCertificates,
  name: KubeadmAuthority | 'sa',
): Authority | undefined => (name === 'sa' ? undefined : certificates[AUTHORITY_SETTINGS[name]]);

/** True if a command signs for the authority: then no host has its key. */
export function signsByCommand(inventory: WithCertificates, name: KubeadmAuthority): boolean {
  const own = ownAuthority(inventory, name);
  return own !== undefined && 'sign' in own;
}

/** True if a command signs for any of them. */
export const signsAnyByCommand = (inventory: WithCertificates): boolean =>
  KUBEADM_AUTHORITIES.some((name) => signsByCommand(inventory, name));

/** The setting, as messages name it. */
export const settingOf = (name: KubeadmAuthority): string => `certificates.${AUTHORITY_SETTINGS[name]}`;

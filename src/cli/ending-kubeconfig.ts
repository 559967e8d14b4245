import { X509Certificate } from 'node:crypto';
import { parse } from 'yaml';
import type { Validity } from '../shell/expiry.ts';
import { spkiFingerprint } from '../shell/fingerprint.ts';

interface Kubeconfig {
  readonly clusters?: readonly { readonly cluster?: { readonly 'certificate-authority-data'?: string } }[];
  readonly users?: readonly { readonly user?: { readonly 'client-certificate-data'?: string } }[];
}

/** What a copy of admin.conf shows: whose CA it trusts first (fingerprint), and when its certificate is valid. */
export interface AdministratorCopy extends Validity {
  readonly ca: string;
}

/** kubeadm's name for the user of admin.conf (cmd/kubeadm/app/phases/kubeconfig/kubeconfig.go). */
const ADMINISTRATOR = /^CN=kubernetes-admin$/m;

const decoded = (data: string): string => Buffer.from(data, 'base64').toString();

function copyIn(text: string): AdministratorCopy | undefined {
  const { clusters = [], users = [] } = parse(text) as Kubeconfig;
  const ca = clusters[0]?.cluster?.['certificate-authority-data'];
  const data = users[0]?.user?.['client-certificate-data'];
  // What holds more than one of them is a file that the operator has put together.
  if (clusters.length !== 1 || users.length !== 1 || ca === undefined || data === undefined) return undefined;
  const { subject, validFrom, validTo } = new X509Certificate(decoded(data));
  if (!ADMINISTRATOR.test(subject)) return undefined;
  return { ca: spkiFingerprint(decoded(ca)), beginsMs: Date.parse(validFrom), endsMs: Date.parse(validTo) };
}

/** Undefined for what is no copy of admin.conf: another user's kubeconfig, one of several clusters, or no kubeconfig at all. */
export function administratorCopy(text: string): AdministratorCopy | undefined {
  try {
    return copyIn(text);
  } catch {
    // No YAML, or no certificate: kbuild did not write it.
    return undefined;
  }
}

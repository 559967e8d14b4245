import type { Step } from '../engine/step.ts';
import { etcdAuthority } from './authority.ts';
import { etcdCertificates } from './certificates.ts';
import { etcdClientCertificate } from './client-certificate.ts';
import { externalEtcd } from './external.ts';

/** Give a host of role etcd the CA of etcd and its own certificates. */
export const etcdCertificateSteps: readonly Step[] = [etcdAuthority, etcdCertificates];

/** Connect a control plane to an etcd that does not run on it. */
export const etcdConnectionSteps: readonly Step[] = [etcdClientCertificate, ...externalEtcd];

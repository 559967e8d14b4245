import type { Step } from '../engine/step.ts';
import { etcdAuthority } from './authority.step.ts';
import { etcdCertificates } from './certificates.step.ts';
import { etcdClientCertificate } from './client-certificate.step.ts';
import { externalEtcd } from './external.step.ts';

/** Give a host of role etcd the CA of etcd and its own certificates. */
export const etcdCertificateSteps: readonly Step[] = [etcdAuthority, etcdCertificates];

/** Connect a control plane to an etcd that does not run on it. */
export const etcdConnectionSteps: readonly Step[] = [etcdClientCertificate, ...externalEtcd];

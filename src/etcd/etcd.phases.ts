import type { Step } from '../engine/step.ts';
import { etcdAuthority } from './authority.step.ts';
import { etcdCertificates } from './certificates.step.ts';
import { etcdClientCertificate } from './client-certificate.step.ts';
import { externalEtcd } from './external.step.ts';

/** Steps that give a host of role etcd the CA of etcd and its own certificates. */
export const etcdCertificateSteps: readonly Step[] = [etcdAuthority, etcdCertificates];

/** Steps that connect a control plane to an etcd on other hosts. */
export const etcdConnectionSteps: readonly Step[] = [etcdClientCertificate, ...externalEtcd];

import { problem, type Rule } from './rule.ts';

/** A CA of the user's has its key: kubeadm signs with it, and so does the cluster for every kubelet that joins. */
export const signingAuthority: Rule = ({ certificates }) =>
  typeof certificates === 'object' && certificates.ca !== undefined && certificates.ca.key === undefined
    ? [
        problem(
          ['certificates', 'ca', 'key'],
          'is required: env:NAME, file:PATH or command:COMMAND. Without it kubeadm needs (its "external CA mode") every leaf made by you on every host: pki/apiserver, apiserver-kubelet-client, admin.conf, super-admin.conf, controller-manager.conf, scheduler.conf and kubelet.conf; no kubelet could join by a token and none would be renewed, so kbuild does not build such clusters. Use an intermediate CA that is made for this cluster',
        ),
      ]
    : [];

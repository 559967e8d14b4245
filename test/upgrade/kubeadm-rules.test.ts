import { expect, test } from 'vitest';
import { KUBEADM_RULES, kubeadmRulesProbe } from '../../src/upgrade/addons.facts.ts';

test('the rules of kubeadm are read by one kubectl, and one that is missing is absent', () => {
  const { command, parse } = kubeadmRulesProbe(['kubectl']);
  expect(command.script).toMatch(
    /^kubectl -n kube-system get role\/kubeadm:nodes-kubeadm-config .* --ignore-not-found -o name$/,
  );
  const printed = [
    'role.rbac.authorization.k8s.io/kubeadm:kubelet-config',
    'clusterrolebinding.rbac.authorization.k8s.io/kubeadm:apiserver-kubelet-client',
  ];
  const found = parse(`${printed.join('\n')}\n`, { middleMs: 0 });
  expect(KUBEADM_RULES.map(({ object }) => object).filter((object) => found.has(object))).toEqual([
    'role/kubeadm:kubelet-config',
    'clusterrolebinding/kubeadm:apiserver-kubelet-client',
  ]);
});

import { expect, test } from 'vitest';
import { kubeletClient } from '../../src/kubeadm/kubelet.facts.ts';

const NODE = `-----BEGIN CERTIFICATE-----
MIIBtzCCAV2gAwIBAgIUHIGP4ydGImWdocR3FE1LNCR85nkwCgYIKoZIzj0EAwIw
MDEVMBMGA1UECgwMc3lzdGVtOm5vZGVzMRcwFQYDVQQDDA5zeXN0ZW06bm9kZTp3
MTAgFw0yNjExMjcxNzM2MzJaGA8yMTI2MTEwMzE3MzYzMlowMDEVMBMGA1UECgwM
c3lzdGVtOm5vZGVzMRcwFQYDVQQDDA5zeXN0ZW06bm9kZTp3MTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABOI2+hcGnP76QtLbdwTrthA7Osgun6xigSa7zyesEvvH
o6agddN/i674sdJcjYu++uo5w5UteD6KtvsF9Rq4OxijUzBRMB0GA1UdDgQWBBQs
Z6YRESUOTTUIE/yLPWu50nK5ezAfBgNVHSMEGDAWgBQsZ6YRESUOTTUIE/yLPWu5
0nK5ezAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCixri3V30J
QMf9f0tSKmUBGzzmFxTnev+QFFJlsILcPgIgFLLGI+xbSbFOrWTVqJguVGQeVw4U
B7ODfnSntxN97kk=
-----END CERTIFICATE-----`;
const ADMIN = `-----BEGIN CERTIFICATE-----
MIIBpDCCAUugAwIBAgIUdaiJVgJyD8c+Qe7CSc6+hY7awNwwCgYIKoZIzj0EAwIw
JzEKMAgGA1UECgwBeDEZMBcGA1UEAwwQa3ViZXJuZXRlcy1hZG1pbjAgFw0yNjEx
MjcxNzM2MzJaGA8yMTI2MTEwMzE3MzYzMlowJzEKMAgGA1UECgwBeDEZMBcGA1UE
AwwQa3ViZXJuZXRlcy1hZG1pbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDRO
mR0Aj+tQLzUYVMm9uGV0SYLR+HQZykZGwzhutHQ4hQ7gr3LvgT1x2Qa5uk0JxncV
rHPUSL5VzKARm3F/vKOjUzBRMB0GA1UdDgQWBBTT6NG9IHk4Camtt79VFrxSN9K6
NzAfBgNVHSMEGDAWgBTT6NG9IHk4Camtt79VFrxSN9K6NzAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIB4pFbBD8ztSDJCKdfHbgbfMzzJBG+v1NaOM
5Cy6K8JXAiB49sOiZVM/A8C1KNiBmy0JyBKj/EO87laETjSywS4wKw==
-----END CERTIFICATE-----`;
const parse = (out: string) => kubeletClient.parse(out, { middleMs: 0 });

test.each([
  ['of a node names it', `certificate\n${NODE}\n`, { node: 'w1' }],
  ['is absent on a host without the kubelet’s kubeconfig', '\n', 'absent'],
  ['that is missing beside a kubeconfig cannot be read', 'certificate\n', 'unreadable'],
  ['that was cut off cannot be read', `certificate\n${NODE.slice(0, 200)}\n`, 'unreadable'],
  ['of no node cannot be read', `certificate\n${ADMIN}\n`, 'unreadable'],
])('a kubelet’s client certificate %s', (_, out, found) => {
  expect(parse(out)).toEqual(found);
});

import { expect, test } from 'vitest';
import { proxyDropIn } from '../../src/host/service.step.ts';
import { paths } from '../../src/paths.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

test('a proxy’s password reaches the service to the byte: % is no specifier, a quote no end', async () => {
  const proxied = inventory({ proxy: { http: 'http://ops:p%40s"\\s@proxy:3128', noProxy: ['.svc', '10.0.0.0/8'] } });
  const { on, sent } = recordingOn();
  await proxyDropIn('kubelet-proxy', paths.kubeletProxy).diff(target({}, { inventory: proxied }))[0]!.apply!(on);
  const lines = JSON.stringify(sent);
  expect(lines).toContain(
    JSON.stringify(String.raw`Environment="HTTP_PROXY=http://ops:p%%40s\"\\s@proxy:3128"`).slice(1, -1),
  );
  expect(lines).toContain(JSON.stringify('Environment="no_proxy=.svc,10.0.0.0/8"').slice(1, -1));
  expect(lines).not.toContain('HTTPS_PROXY');
});

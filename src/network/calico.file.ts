import { problem, type Rule, warning } from '../inventory/schema/rule.ts';
import type { JsonObject } from '../shell/decode.ts';
import { hasWindows, kubeProxyImage, type PluginFile } from './plugin.file.ts';

const OPERATOR = ['network', 'calico', 'operator'];
const INSTALLATIONS = 'installations.operator.tigera.io';

/** Calico is installed with the manifests of its operator. Not tested in our lab. */
const operatorIsGiven: Rule = ({ network: { calico } }) => [
  warning(
    ['network', 'plugin'],
    'calico was never run with kbuild, neither on Linux nor on Windows hosts: try it on machines that may fail',
  ),
  ...(calico.operator.length > 0
    ? []
    : [
        problem(
          OPERATOR,
          "is required: the manifests of Calico's operator and its CRDs, as files or https:// URLs (`kbuild " +
            'explain network.calico.operator`)',
        ),
      ]),
];

const noSettings: Rule = ({ network: { calico } }) =>
  calico.operator.length > 0 || calico.imageRepository !== undefined
    ? [problem(['network', 'calico'], 'is only for network.plugin calico')]
    : [];

/** Reads the settings of Calico. */
export const calico: PluginFile<'calico'> = {
  rule: operatorIsGiven,
  otherwise: noSettings,
  manifests: {
    path: OPERATOR,
    entries: ({ network }) => network.calico.operator,
    // The API server rejects Calico's objects while this CRD is missing. Since 3.30 Calico's project publishes the CRDs
    // in a separate manifest.
    missing: (operator) => {
      if (operator.length === 0 || operator.some(({ objects }) => objects.length === 0)) return undefined;
      const names = operator.flatMap(({ objects }) => objects).map(({ metadata }) => (metadata as JsonObject)['name']);
      return names.includes(INSTALLATIONS)
        ? undefined
        : `none of these holds the CustomResourceDefinition ${INSTALLATIONS}: name the manifest with the CRDs of ` +
            'this version too';
    },
  },
  settings: (file) => {
    const { imageRepository } = file.network.calico;
    return {
      plugin: 'calico',
      calico: imageRepository === undefined ? {} : { imageRepository },
      windows: hasWindows(file) ? { mode: 'calico', services: false, kubeProxyImage: kubeProxyImage(file) } : undefined,
    };
  },
};

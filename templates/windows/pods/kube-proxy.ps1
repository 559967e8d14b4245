# Runs kube-proxy in a HostProcess pod, once the network of pods is there.
# Parameters come from the pod's environment: NODE_NAME, KUBE_NETWORK (its name; kube-proxy reads it too), NETWORK_MODE
# (overlay, host-gw or calico), POD_SUBNET, CNI_BIN, SOURCE_VIP (a folder of the host), NETWORK_SECONDS (how long to wait),
# KUBECONFIG_COPY (a file of the host).
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# A property that an object may lack; '' then. HNS may give nothing, '' and objects without a name.
function Get-Text($Of, [string]$Name) {
    if ($null -eq $Of -or $null -eq $Of.PSObject.Properties[$Name]) { return '' }
    return "$($Of.PSObject.Properties[$Name].Value)"
}
# The pod subnet of a network of HNS; '' where it has none.
function Get-Subnet($Network) {
    foreach ($subnet in @($Network.PSObject.Properties['Subnets'].Value)) {
        $prefix = Get-Text $subnet 'AddressPrefix'
        if ($prefix -ne '') { return $prefix }
    }
    return ''
}
$deadline = (Get-Date).AddSeconds([int]$env:NETWORK_SECONDS)
$networks = @()
$why = ''
while ($networks.Count -eq 0) {
    # HNS restarts while it makes a network: one look that fails says nothing.
    try { $networks = @(Get-HnsNetwork | Where-Object -FilterScript { (Get-Text $_ 'Name') -eq $env:KUBE_NETWORK }) }
    catch { $why = " (HNS: $($_.Exception.Message))" }
    if ($networks.Count -eq 0) {
        if ((Get-Date) -gt $deadline) { throw "the HNS network $env:KUBE_NETWORK did not come within $env:NETWORK_SECONDS s: does the network plugin run?$why" }
        Start-Sleep -Seconds 1
    }
}

# Rules of an earlier kube-proxy would stay for ever: it does not look for them.
$stale = @(Get-HnsPolicyList | Where-Object -FilterScript { "$_" -ne '' })
if ($stale.Count -gt 0) { $stale | Remove-HnsPolicyList }

# kubeadm's ConfigMap, which is mounted here and cannot be written, names the token and the certificate authority without a
# drive: client-go would look for them below its own folder.
$kubeconfig = Get-Content -LiteralPath 'C:\var\lib\kube-proxy\kubeconfig.conf' -Raw -Encoding 'UTF8'
$folder = Split-Path -Path $env:KUBECONFIG_COPY -Parent
if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType 'Directory' -Path $folder -Force | Out-Null }
Set-Content -LiteralPath $env:KUBECONFIG_COPY -Value ($kubeconfig -replace ': /var/', ': C:/var/') -Encoding 'Ascii'

$arguments = @(
    "--hostname-override=$env:NODE_NAME",
    '--proxy-mode=kernelspace',
    "--kubeconfig=$env:KUBECONFIG_COPY",
    "--cluster-cidr=$env:POD_SUBNET",
    '--enable-dsr=true',
    '--v=2'
)

if ($env:NETWORK_MODE -eq 'overlay') {
    # An address of the node's own subnet, reserved like a pod's: the source of what kube-proxy sends on. It is reserved anew
    # where the subnet is another one than before.
    if ($null -eq $networks[0].PSObject.Properties['Subnets']) { throw "the HNS network $env:KUBE_NETWORK has no subnets" }
    $subnet = Get-Subnet $networks[0]
    if ($subnet -eq '') { throw "the HNS network $env:KUBE_NETWORK has no subnet" }
    $kept = "$env:SOURCE_VIP\sourceVip.json"
    $known = ''
    if (Test-Path -LiteralPath $kept) {
        # A crash may have left it empty, or with half of it: then it counts as none.
        try {
            $record = Get-Content -LiteralPath $kept -Raw | ConvertFrom-Json
            if ((Get-Text $record 'subnet') -eq $subnet) { $known = Get-Text $record 'address' }
        } catch {
            Write-Output -InputObject "$kept cannot be read, an address is reserved anew: $($_.Exception.Message)"
        }
    }
    if ($known -eq '') {
        $request = @{ cniVersion = '0.2.0'; name = $env:KUBE_NETWORK; ipam = @{ type = 'host-local'; ranges = @(, @(@{ subnet = $subnet })); dataDir = 'C:/var/lib/cni/networks' } }
        $env:CNI_CONTAINERID = 'kbuild-source-vip'
        $env:CNI_NETNS = 'none'
        $env:CNI_IFNAME = 'none'
        $env:CNI_PATH = $env:CNI_BIN
        # host-local refuses a second address of one name, and a run that crashed before it wrote the file may have one.
        foreach ($command in @('DEL', 'ADD')) {
            $env:CNI_COMMAND = $command
            $answer = (ConvertTo-Json -InputObject $request -Compress -Depth 8) | & "$env:CNI_BIN\host-local.exe"
            if ($LASTEXITCODE -ne 0) { throw "host-local.exe ended with status ${LASTEXITCODE} at ${command}: $answer" }
        }
        $known = [string]("$answer" | ConvertFrom-Json).ip4.ip.Split('/')[0]
        if (-not (Test-Path -LiteralPath $env:SOURCE_VIP)) { New-Item -ItemType 'Directory' -Path $env:SOURCE_VIP -Force | Out-Null }
        # Beside it, then renamed: whole or not there.
        ConvertTo-Json -InputObject @{ subnet = $subnet; address = $known } -Compress | Set-Content -LiteralPath "$kept.kbuild-new" -Encoding 'Ascii'
        Move-Item -LiteralPath "$kept.kbuild-new" -Destination $kept -Force
    }
    $arguments = $arguments + @("--source-vip=$known")
}

if ($env:NETWORK_MODE -eq 'calico') {
    # Calico reserves the address itself, as an endpoint of the host.
    $endpoints = @()
    while ($endpoints.Count -eq 0) {
        try { $endpoints = @(Get-HnsEndpoint | Where-Object -FilterScript { (Get-Text $_ 'Name') -eq 'Calico_ep' -and (Get-Text $_ 'IPAddress') -ne '' }) }
        catch { $why = " (HNS: $($_.Exception.Message))" }
        if ($endpoints.Count -eq 0) {
            if ((Get-Date) -gt $deadline) { throw "the HNS endpoint Calico_ep did not come within $env:NETWORK_SECONDS s: does calico-node run?$why" }
            Start-Sleep -Seconds 1
        }
    }
    $arguments = $arguments + @("--source-vip=$(Get-Text $endpoints[0] 'IPAddress')")
}

& "$env:CONTAINER_SANDBOX_MOUNT_POINT\kube-proxy\kube-proxy.exe" @arguments
exit $LASTEXITCODE

# Reserves an address of the HNS network Name, as for a pod, with host-local.exe in the folder Plugins. Writes it with
# its subnet to the file Path.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$Plugins,
    [Parameter(Mandatory = $true)][string]$Path
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$networks = @(Get-HnsNetworkByName -Name $Name)
if ($networks.Count -eq 0) { throw "there is no HNS network $Name" }
$subnet = Get-HnsSubnet -Network $networks[0]
if ($subnet -eq '') { throw "the HNS network $Name has no subnet" }
$ipam = @{ type = 'host-local'; ranges = @(, @(@{ subnet = $subnet })); dataDir = 'C:/var/lib/cni/networks' }
$request = ConvertTo-Json -InputObject @{ cniVersion = '0.2.0'; name = $Name; ipam = $ipam } -Compress -Depth 8
Set-Item -Path 'Env:CNI_CONTAINERID' -Value 'kbuild-source-vip'
Set-Item -Path 'Env:CNI_NETNS' -Value 'none'
Set-Item -Path 'Env:CNI_IFNAME' -Value 'none'
Set-Item -Path 'Env:CNI_PATH' -Value $Plugins
# An address that is reserved under this name is released first: no other pod has the name.
foreach ($command in @('DEL', 'ADD')) {
    Set-Item -Path 'Env:CNI_COMMAND' -Value $command
    $answer = @(Invoke-Native -Exe "$Plugins\host-local.exe" -InputText $request) -join "`n"
}
$reserved = Get-Property -Of (Get-Property -Of (ConvertFrom-Json -InputObject $answer) -Name 'ip4') -Name 'ip'
$record = @{ subnet = $subnet; address = "$reserved".Split('/')[0] }
Write-TextFile -Path $Path -Text (ConvertTo-Json -InputObject $record -Compress)
Write-Result -Value $record

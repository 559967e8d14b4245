# Removes networks of the Host Networking Service with their endpoints. The host's own connection drops for seconds.
# Names: the networks.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-Field($Object, [string]$Name) {
    if ($null -eq $Object.PSObject.Properties[$Name]) { return '' }
    return [string]$Object.PSObject.Properties[$Name].Value
}
if ($null -ne (Find-Existing -Look { Get-Command -Name 'Get-HnsNetwork' -ErrorAction 'Stop' })) {
    foreach ($endpoint in @(Get-HnsEndpoint)) {
        if ($Names -contains (Get-Field $endpoint 'VirtualNetworkName')) { $endpoint | Remove-HnsEndpoint | Out-Null }
    }
    foreach ($network in @(Get-HnsNetwork)) {
        if ($Names -contains (Get-Field $network 'Name')) { $network | Remove-HnsNetwork | Out-Null }
    }
}
Write-Result -Value @{ removed = @($Names) }

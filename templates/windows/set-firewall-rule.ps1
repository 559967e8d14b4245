# Creates a firewall rule that allows inbound connections. Replaces a rule of the same name. Name, DisplayName, Protocol
# (TCP, UDP), Port.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$DisplayName,
    [Parameter(Mandatory = $true)][string]$Protocol,
    [Parameter(Mandatory = $true)][string]$Port
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
if ($null -ne (Find-Existing -Look { Get-NetFirewallRule -Name $Name -ErrorAction 'Stop' })) { Remove-NetFirewallRule -Name $Name }
$rule = @{
    Name = $Name
    DisplayName = $DisplayName
    Group = 'kbuild'
    Enabled = 'True'
    Direction = 'Inbound'
    Action = 'Allow'
    Profile = 'Any'
    Protocol = $Protocol
    LocalPort = $Port
}
New-NetFirewallRule @rule | Out-Null
Write-Result -Value @{ set = $Name }
